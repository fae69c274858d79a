"""Settings of all tests: repeatable property tests, and one thread for those that ask for it."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run, so that a failure can be repeated.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],  # this check depends on the speed of the machine
)
settings.load_profile("ci")

# A shell that starts the tests in the background has them, and what they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def kept_umask() -> Iterator[None]:
    """Commands on projects write for this account alone; the next test starts as before."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute with one thread, so that sums are rounded alike everywhere."""
    import torch  # the import takes seconds, and most tests do not need it

    from engine.network.device import set_threads

    before = torch.get_num_threads()
    set_threads(1)
    yield
    set_threads(before)
