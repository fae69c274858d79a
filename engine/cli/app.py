"""`app`: start the app in the browser."""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from engine.projects import sweep_leftovers
from engine.text import InputError

_APP = Path(__file__).resolve().parents[2] / "ui" / "app.py"


def app_command(options: argparse.Namespace) -> None:
    """Replace this process by the server of the app."""
    if find_spec("streamlit") is None or find_spec("plotly") is None:
        raise InputError(
            "the app needs Streamlit and Plotly, which are not installed. "
            'Run: pip install "glossa[app]"'
        )
    sweep_leftovers()
    print(f"Glossa: http://{options.address}:{options.port} (stop with Ctrl+C)", flush=True)
    command = [sys.executable, "-m", "streamlit", "run", str(_APP)]
    command += ["--server.address", options.address, "--server.port", str(options.port)]
    if options.headless:
        command += ["--server.headless", "true"]
    os.execv(sys.executable, command)
