"""`status`: what is done in a project, the next step, and which method to take."""

import argparse

from engine.cli.inputs import named_project
from engine.cli.terminal import say
from engine.guide import next_step, project_steps, project_story, skip_step

_MARKS = {"done": "[x]", "next": "[>]", "open": "[ ]", "later": "[ ]", "skipped": "[-]"}

_PAGES = {"labels": "Distant labels"}


def status_command(options: argparse.Namespace) -> None:
    """Print the checklist that the app shows on Home."""
    project = named_project(options.project)
    if options.skip:
        skip_step(project, options.skip)
    steps = project_steps(project)
    say("\n".join(f"{_MARKS[step.state]} {step.title}" for step in steps))
    step = next_step(steps)
    if step is None:
        say("\nNothing is left to do.")
    else:
        page = _PAGES.get(step.page, step.page.capitalize())
        where = f"{page}, tab {step.tab}" if step.tab else page
        say(f"\nNext: {step.title}. {step.why} In the app: page {where}.")
    if options.compare:
        story = project_story(project)
        say(f"\n{story}" if story else "\nNothing is trained yet, so there is nothing to compare.")
