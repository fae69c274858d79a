"""`twin`: make a fast run that predicts about what a run with a transformer does."""

import argparse
from contextlib import ExitStack
from pathlib import Path

from engine.cli import console
from engine.cli.inputs import read_texts
from engine.cli.keyboard import STOPPED, stopped_by_keyboard
from engine.cli.terminal import say
from engine.experiment import make_twin
from engine.learning import epoch_line, twin_settings
from engine.network import Stopped
from engine.run_folder import has_card
from engine.runs import load_run, save_twin
from engine.text import InputError


def twin_command(options: argparse.Namespace) -> None:
    """Make a twin of a run from unlabeled texts and leave it in --out."""
    teacher_folder, folder = Path(options.run_folder), Path(options.out)
    if has_card(folder):
        raise InputError(f"{folder} holds a run already. Name another folder for the twin")
    teacher = load_run(teacher_folder, is_trusted=options.trust)
    twin_settings(teacher.settings, 0)  # says now, not after reading, if there can be no twin
    corpus = read_texts(options)
    sentences = sum(len(document.sentences) for document in corpus.documents)
    with stopped_by_keyboard() as should_stop, ExitStack() as reading:
        bar = reading.enter_context(console.ProgressBar("Reading", sentences, "sentences"))
        shown = 0

        def on_share(share: float) -> None:
            nonlocal shown
            bar.advance(round(share * sentences) - shown)
            shown = round(share * sentences)
            if share == 1:
                reading.close()  # the lines of the epochs follow

        try:
            twin = make_twin(
                teacher,
                corpus.documents,
                on_share=on_share,
                on_progress=lambda progress: say(epoch_line(progress)),
                should_stop=should_stop,
            )
        except Stopped:
            say("Stopped. Nothing was written.")
            raise SystemExit(STOPPED) from None
    save_twin(folder, twin, teacher_folder.resolve().name)
    if twin.agreement is not None:
        say(
            f"\nOn sentences held out, its entities agree with those of the run to "
            f"{twin.agreement:.1%} (F1)."
        )
    say(f"The twin is in {folder}; use it with: glossa predict --run {folder}")
