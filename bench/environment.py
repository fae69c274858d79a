"""Describe where and with what a figure was measured: commit, machine, versions, date.

Uses only the standard library: benchmarks that measure memory start their cells from a process that
must stay small.
"""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "flashtext",
    "numpy",
    "pandas",
    "pyahocorasick",
    "regex",
    "seqeval",
    "spacy",
    "streamlit",
    "torch",
    "transformers",
)


def describe() -> dict[str, object]:
    """Return the commit, the machine, the versions and the date, ready for JSON."""
    return {
        "commit": _git("rev-parse", "--short", "HEAD"),
        "dirty": bool(_git("status", "--porcelain")),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "versions": {name: version for name in PACKAGES if (version := _version(name))},
    }


def finish(result: dict[str, object]) -> None:
    """Print the result with its environment as one JSON line, the last line of every script."""
    print(json.dumps({**result, "environment": describe()}))


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""  # not a git repository, or git is not installed
    return done.stdout.strip()


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
