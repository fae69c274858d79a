"""`encoders`: list the transformers that can be chosen by name, and download one."""

import argparse

from engine.cli import console
from engine.cli.inputs import named_project
from engine.cli.terminal import say
from engine.planning import ENCODER_MENU, known_encoder
from engine.projects import download_encoder, encoder_folder, knows_language, note_progress
from engine.settings import LANGUAGES
from engine.text import InputError


def encoders_command(options: argparse.Namespace) -> None:
    """Print the menu, or download an encoder into the data folder."""
    if options.download:
        _download(options.download, is_noted=options.note)
        return
    code = named_project(options.project).language() if options.project else options.language
    rows = [
        {
            "name": encoder.name,
            "trained on": encoder.field,
            "languages": encoder.languages,
            **({LANGUAGES[code]: "yes" if knows_language(encoder, code) else "no"} if code else {}),
            "MB": encoder.megabytes or "built in",
            "license": encoder.license,
            "here": "yes" if not encoder.megabytes or encoder_folder(encoder.name) else "no",
        }
        for encoder in ENCODER_MENU
    ]
    say(console.table(console.columns_of(rows)))
    say("\n" + "\n".join(f"{encoder.title}: {encoder.needs}" for encoder in ENCODER_MENU))
    say(
        "\nDownload one with: glossa encoders --download NAME\n"
        "Train with it: glossa train … --encoder transformer --set encoder_name=NAME"
    )


def _download(name: str, *, is_noted: bool) -> None:
    encoder = known_encoder(name)
    megabytes = encoder.megabytes if encoder else 0
    try:
        with console.ProgressBar("Downloading", megabytes, "MB") as bar:
            shown = 0

            def on_bytes(done: int, total: int) -> None:
                nonlocal shown
                if is_noted:
                    note_progress(name, {"done": done, "total": total})
                bar.advance(done // 1_000_000 - shown)
                shown = done // 1_000_000

            folder = download_encoder(name, on_bytes)
    except InputError as error:
        if is_noted and encoder:
            note_progress(name, {"error": str(error)})
        raise
    if is_noted:
        note_progress(name, {})
    say(f"{name} is in {folder}.")
