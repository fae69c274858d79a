"""The choice of transformer on the page Train: the menu, downloads, and a folder of one's own."""

import subprocess
import sys
from pathlib import Path

import streamlit as st

import engine
from engine.planning import ENCODER_MENU, OWN_FOLDER, KnownEncoder, known_encoder
from engine.projects import (
    chosen_encoder,
    encoder_folder,
    knows_language,
    note_progress,
    own_encoder,
    read_progress,
)
from engine.settings import ENGLISH, LANGUAGES
from engine.text import InputError
from ui import access
from ui.parts import elements

_ROOT = Path(engine.__file__).resolve().parents[1]


def show(language: str) -> tuple[str, str]:
    """Draw the choice for texts in a language.

    Returns the value of `encoder_name`, and why it cannot be used ("").
    """
    names = [encoder.name for encoder in ENCODER_MENU]
    if access.sign_in() == access.NOBODY:  # a path of the server is no business of its visitors
        names.append(OWN_FOLDER)
    name = st.selectbox(
        "Transformer",
        names,
        format_func=lambda name: title(name, language),
        key="train_transformer",
        help="What the BiLSTM sees beside word vectors, or what is fine-tuned. MiniLM comes with "
        "Glossa; others are downloaded once from Hugging Face into the data folder.",
        width=420,
    )
    if name == OWN_FOLDER:
        path = st.text_input(
            "Folder of the model",
            key="train_own_encoder",
            placeholder="/models/my-encoder",
            help="A folder that save_pretrained wrote: config.json, a tokenizer, and safetensors.",
            width=420,
        )
        try:
            return own_encoder(path), ""
        except InputError as error:
            return "minilm", str(error) if path else "name the folder of the model"
    encoder = known_encoder(name)
    assert encoder is not None
    st.caption(elements.plain(about(encoder, language)))
    if encoder.megabytes and encoder_folder(name) is None:
        show_download(encoder)
    try:
        return chosen_encoder(name), ""
    except InputError:
        return "minilm", f"download {encoder.title} first, or choose MiniLM"


def about(encoder: KnownEncoder, language: str) -> str:
    """Return what a person should know before choosing an encoder."""
    size = f"about {encoder.megabytes:,} MB to download" if encoder.megabytes else "built in"
    return (
        f"{encoder.field[0].upper()}{encoder.field[1:]}; {languages(encoder, language)}; {size}; "
        f"license {encoder.license}. {encoder.needs}"
    )


def title(name: str, language: str) -> str:
    """Return an encoder's line in the menu: its name and the languages that it knows."""
    encoder = known_encoder(name)
    if encoder is None:
        return "A folder of your own"
    return f"{encoder.title} ({languages(encoder, language)})"


def languages(encoder: KnownEncoder, language: str) -> str:
    """Return which languages an encoder knows, and whether the project's is among them."""
    if language == ENGLISH:
        return encoder.languages
    name = LANGUAGES[language]
    if not knows_language(encoder, language):
        return f"{encoder.languages}, not {name}"
    return f"{encoder.languages}, with {name}"


@st.fragment(run_every="1s")
def show_download(encoder: KnownEncoder) -> None:
    """Draw the button that downloads an encoder, and how far it is."""
    progress = read_progress(encoder.name)
    if encoder_folder(encoder.name) is not None:
        st.rerun()
    if progress.get("total"):
        done, total = int(progress.get("done", 0)), int(progress["total"])
        st.progress(min(done / total, 1.0), f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
        return
    if progress.get("error"):
        st.error(elements.plain(f"{progress['error']}."))
    st.button(
        f"Download {encoder.title} (about {encoder.megabytes:,} MB)",
        key=f"train_download_{encoder.slug}",
        on_click=start_download,
        args=(encoder.name,),
        icon=":material/download:",
    )


def start_download(name: str) -> None:
    """Start a process that downloads an encoder; it goes on when the page is closed."""
    note_progress(name, {"done": 0, "total": 1})
    subprocess.Popen(
        [sys.executable, "-m", "engine", "encoders", "--download", name, "--note"],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
