"""`serve`: answer HTTP requests with the entities that a run finds."""

import argparse
import os
from pathlib import Path

from engine.cli.terminal import say
from engine.service import check_address, check_packages, serve, service_token


def serve_command(options: argparse.Namespace) -> None:
    """Serve a run until it is stopped."""
    check_packages()
    names = [*options.host_name, *filter(None, os.environ.get("GLOSSA_HOSTS", "").split(","))]
    check_address(options.address, names, service_token(), is_open=options.open)
    address = f"[{options.address}]" if ":" in options.address else options.address
    say(f"Glossa: http://{address}:{options.port}/entities (stop with Ctrl+C)")
    serve(
        Path(options.run_folder),
        address=options.address,
        port=options.port,
        host_names=names,
        is_open=options.open,
        is_trusted=options.trust,
        most_mb=options.most_mb,
    )
