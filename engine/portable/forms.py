"""Write a trained run in a form that other tools load, whole or not at all."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from engine.export import MODEL_FORMS
from engine.files import write_error
from engine.portable.onnx_folder import write_onnx
from engine.portable.transformers_folder import write_transformers
from engine.run_folder import new_card, read_card, run_facts
from engine.runs import load_run
from engine.system import process_mark
from engine.text import InputError

CARD = "glossa.card.json"


def _write_spacy(run_folder: Path, out: Path, is_trusted: bool) -> list[str]:
    from engine.portable.spacy_pipeline import write_pipeline  # imports spaCy

    return write_pipeline(run_folder, out, is_trusted=is_trusted)


def _write_transformers(run_folder: Path, out: Path, is_trusted: bool) -> list[str]:
    return write_transformers(load_run(run_folder, is_trusted=is_trusted), out)


def _write_onnx(run_folder: Path, out: Path, is_trusted: bool) -> list[str]:
    return write_onnx(run_folder, load_run(run_folder, is_trusted=is_trusted), out)


_WRITERS: dict[str, Callable[[Path, Path, bool], list[str]]] = {
    "spacy": _write_spacy,
    "transformers": _write_transformers,
    "onnx": _write_onnx,
}


def export_model(
    run_folder: Path, form: str, out: Path, *, is_trusted: bool = False, command: str = ""
) -> list[str]:
    """Write the run in `run_folder` to the new folder `out`; return notes on what differs.

    InputError says why a run cannot take a form, and nothing is written then.
    """
    if form not in MODEL_FORMS:
        raise InputError(f'"{form}" is not a form; choose one of {", ".join(MODEL_FORMS)}')
    if missing := MODEL_FORMS[form].missing:
        raise InputError(
            f"the form {form} needs {' and '.join(missing)}, which is not installed. "
            f'Run: pip install "glossa[{MODEL_FORMS[form].extra}]"'
        )
    card = read_card(run_folder)
    _refuse_full(out)
    part = out.with_name(f".{out.name[:60]}.{process_mark()}.part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir()
        notes = _WRITERS[form](run_folder, part, is_trusted)
        facts = new_card(
            f"a trained tagger as {form}",
            command=command or None,
            run=run_facts(card, run_folder.name),
            notes=notes,
        )
        (part / CARD).write_text(json.dumps(facts, indent=2) + "\n", encoding="ascii")
        os.replace(part, out)
    except OSError as error:
        raise write_error(out, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return notes


def _refuse_full(out: Path) -> None:
    try:
        is_full = out.exists() and (not out.is_dir() or any(out.iterdir()))
    except OSError as error:
        raise write_error(out, error) from error
    if is_full:
        raise InputError(f"{out} is there already; name a folder that is new or empty")
