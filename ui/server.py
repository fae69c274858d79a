"""Start the app's server: `glossa app` runs this file in place of itself.

Streamlit's own `streamlit run` would serve the same pages without the gate before them.
"""

import argparse
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # this file is run as a script

from starlette.middleware import Middleware
from streamlit import cli_util, config, net_util
from streamlit.web import bootstrap
from streamlit.web.server.server_util import get_url
from streamlit.web.server.starlette import App

from engine.projects import keep_private
from engine.text import InputError
from ui import access
from ui.gate import Gate

_APP = Path(__file__).resolve().parent / "app.py"


def main() -> int:
    """Serve the app until it is stopped; return 2 if it may not start like this."""
    options = _parse()
    _stay_inside()
    gate = Middleware(Gate, hosts=frozenset(), sign_in=access.PASSWORD)  # closed until decided
    # Made first: it shows Streamlit the configuration and the secrets beside app.py.
    app = App(_APP, lifespan=_opens_browser, middleware=[gate])
    try:
        hosts = access.allowed_hosts(options.address, options.host_name)
        settings = _settings(options, hosts)
        bootstrap.load_config_options(settings)
        access.check_start(options.address, hosts, is_open=options.open)
        gate.kwargs.update(hosts=hosts, sign_in=access.decide_sign_in())
        keep_private()
    except InputError as error:
        print(f"glossa app: {error}.", file=sys.stderr)  # noqa: T201
        return 2
    app.run(config=settings)
    return 0


def _settings(options: argparse.Namespace, hosts: frozenset[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "server.address": options.address.strip("[]"),
        "server.port": options.port,
        "server.allowedHosts": sorted(hosts),
    }
    return settings | ({"server.headless": True} if options.headless else {})


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="glossa app")
    parser.add_argument("--address", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host-name", action="append", default=[])
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--headless", action="store_true")
    return parser.parse_args()


def _stay_inside() -> None:
    """Keep Streamlit from asking an outside host for this machine's address.

    It does so for each refused Origin, to allow that address too. The gate checks host names.
    """
    net_util.get_external_ip = net_util.get_internal_ip = lambda: None


@asynccontextmanager
async def _opens_browser(app: App) -> AsyncIterator[None]:
    if not config.get_option("server.headless"):
        cli_util.open_browser(get_url("localhost"))
    yield


if __name__ == "__main__":
    sys.exit(main())
