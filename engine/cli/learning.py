"""`train` and `curve`: with --project as a job of the project, otherwise on files."""

import argparse

from engine.cli.curve import curve_on_files
from engine.cli.inputs import project_of
from engine.cli.project_training import curve_in_project, train_in_project
from engine.cli.train import train_on_files
from engine.text import InputError


def train_command(options: argparse.Namespace) -> None:
    """Train the methods asked for and print how they compare."""
    if project := project_of(options):
        train_in_project(project, options)
    else:
        train_on_files(options)


def curve_command(options: argparse.Namespace) -> None:
    """Train the methods on growing shares of the dictionaries and print the points."""
    if options.engine and options.project:
        raise InputError("--engine goes with files; leave it out with --project")
    if project := project_of(options):
        curve_in_project(project, options)
    else:
        curve_on_files(options)
