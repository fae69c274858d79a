"""`app`: start the app in the browser."""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from engine.projects import sweep_leftovers
from engine.text import InputError

_SERVER = Path(__file__).resolve().parents[2] / "ui" / "server.py"


def app_command(options: argparse.Namespace) -> None:
    """Replace this process by the server of the app."""
    if find_spec("streamlit") is None or find_spec("plotly") is None:
        raise InputError(
            "the app needs Streamlit and Plotly, which are not installed. "
            'Run: pip install "glossa[app]"'
        )
    sweep_leftovers()
    address = f"[{options.address}]" if ":" in options.address else options.address
    print(f"Glossa: http://{address}:{options.port} (stop with Ctrl+C)", flush=True)
    command = [sys.executable, str(_SERVER)]
    command += ["--address", options.address, "--port", str(options.port)]
    command += [f"--host-name={name}" for name in options.host_name]
    command += ["--open"] if options.open else []
    command += ["--headless"] if options.headless else []
    os.execv(sys.executable, command)
