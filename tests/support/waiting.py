"""Wait for something to happen, however slow the machine is.

No test measures time. A limit only ends a test that would hang for ever, so it is far longer than
any step takes, even on a very busy machine.
"""

import time
from collections.abc import Callable

LIMIT = 600  # seconds
LIMIT_MS = LIMIT * 1000  # as Playwright counts


def wait_until(condition: Callable[[], object], what: str, *, every: float = 0.02) -> None:
    """Return once `condition` holds; fail with `what`, the event that did not come."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited {LIMIT} s in vain: {what}"
        time.sleep(every)
