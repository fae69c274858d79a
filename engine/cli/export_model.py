"""`export-model`: write a trained run in a form that other tools load."""

import argparse
from pathlib import Path

from engine.cli.terminal import note_all, say, typed_command
from engine.export import MODEL_FORMS
from engine.portable import export_model


def export_model_command(options: argparse.Namespace) -> None:
    """Write the run to a new folder and say how to load it."""
    notes = export_model(
        Path(options.run_folder),
        options.to,
        Path(options.out),
        is_trusted=options.trust,
        command=typed_command(options),
    )
    note_all(notes)
    title = MODEL_FORMS[options.to].use.replace("DIR", options.out)
    say(f"Wrote {options.run_folder} to {options.out}: {title}.")
