"""The command line: one module per command.

command_line, arguments, project_arguments   all commands and their options
label, health, score, convert, predict       commands on files
shards                                       label and predict on folders and URLs
learning: train, curve; suggest, twin        the same, with torch
export_model, serve, encoders                a run for other tools, as a service; transformers
projects, status, measure, import_, export, opinion, project_training
                                             commands on projects
app, doctor                                  start the app; check the installation
inputs, options, sample                      what a command is given: files, settings, verdicts
terminal, console, label_tables, epoch_lines, encoding_bar, keyboard
                                             printing, progress, and Ctrl-C
"""

from engine.cli.command_line import main
from engine.cli.options import make_settings

__all__ = [
    "main",
    "make_settings",
]
