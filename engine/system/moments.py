"""Write moments as text for storage, and read them again."""

from datetime import UTC, datetime


def now() -> str:
    """Return this moment as it is stored: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def moment(stored: object) -> datetime:
    """Return a stored moment in UTC; a value that is no moment becomes 1970, not an error.

    >>> moment("2026-05-01T12:00:00+02:00").isoformat()
    '2026-05-01T10:00:00+00:00'
    >>> moment("soon").year
    1970
    """
    try:
        return datetime.fromisoformat(str(stored)).astimezone(UTC)
    except (ValueError, OverflowError):  # the first and last days of all years overflow
        return datetime.fromtimestamp(0, UTC)


def seconds_since(stored: str) -> float:
    """Return how many seconds ago a stored moment was, never less than none.

    A moment in the future was stored before the clock was set back. Its distance counts: otherwise
    a job that died would count as alive until the clock has caught up.
    """
    return abs((datetime.now(UTC) - moment(stored)).total_seconds())
