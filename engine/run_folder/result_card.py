"""The card beside a result: what made it, as far as runs, dictionaries and texts say it.

Cards that need a project are in `engine.export`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from engine.dictionaries import Dictionary, enabled_phrases, fingerprint
from engine.run_folder.card import Card
from engine.text import Corpus, FileReport

_CARD = 1  # the layout of these cards


def glossa_version() -> str:
    """Return the version of Glossa; "unknown" in a checkout that is not installed."""
    try:
        return version("glossa")
    except PackageNotFoundError:
        return "unknown"


def new_card(what: str, **facts: object) -> dict[str, Any]:
    """Return a card: what was exported, by which version of Glossa, when, and the facts given.

    >>> list(new_card("labels", matching="strict"))
    ['card', 'what', 'glossa', 'made_at', 'matching']
    """
    return {
        "card": _CARD,
        "what": what,
        "glossa": glossa_version(),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: fact for name, fact in facts.items() if fact is not None},
    }


# ---- facts ----------------------------------------------------------------------------------


def run_facts(card: Card, run_id: str = "") -> dict[str, Any]:
    """Return what a card says about a trained run: its data, its settings, its versions."""
    return {
        "id": run_id or card.run_id,
        "method": card.method,
        "trained_at": card.made_at,
        "types": list(card.types),
        "priors": list(card.priors),
        "settings": asdict(card.settings),
        "data_fingerprint": card.data_fingerprint,
        "dictionary_fingerprint": card.dictionary_fingerprint,
        "versions": dict(card.versions),
    }


def dictionary_facts(
    dictionaries: Sequence[Dictionary], version: int | None = None
) -> dict[str, Any]:
    """Return what a card says about dictionaries; `version` is that of a project."""
    numbered = {} if version is None else {"version": version}
    phrases = {d.name: sum(1 for _ in enabled_phrases(d)) for d in dictionaries}
    return numbered | {"fingerprint": fingerprint(dictionaries), "phrases": phrases}


def text_facts(corpus: Corpus) -> dict[str, Any]:
    """Return what a card says about texts that are at hand: their files, number and hash."""
    digest = hashlib.sha256()
    for document in corpus.documents:
        digest.update(ascii((document.id, document.text)).encode())
    return {
        "files": file_names(corpus.files),
        "documents": len(corpus.documents),
        "fingerprint": digest.hexdigest()[:16],
    }


def file_names(reports: Iterable[FileReport]) -> list[str]:
    """Return the names of the files that texts were read from."""
    return list(dict.fromkeys(report.name for report in reports))
