"""The command line: one module per command."""

from engine.cli.command_line import main
from engine.cli.options import make_settings

__all__ = [
    "main",
    "make_settings",
]
