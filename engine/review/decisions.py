"""Store what a person decided about entities. Rows are only added: undoing adds a row, too."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from engine.scoring import MOST_NAMES, Answer, Judgement
from engine.system import moment, now
from engine.text import Document, Entity, InputError

# A precision sample of dictionary matches, the review queue, or a sample that measures a run.
KINDS = ("check", "review", "measure")
NAME_COUNTS = tuple(map(str, range(MOST_NAMES + 1)))  # true names in a unit that is not right
VERDICTS = ("accepted", "rejected", "edited", "unsure", "skipped", *NAME_COUNTS)
Place = tuple[str, int, int, str]
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "start", "end"), int),
    **dict.fromkeys(("new_start", "new_end"), (int, type(None))),
    **dict.fromkeys(("document_id", "entity_type", "source", "queue", "surface"), str),
    "new_type": (str, type(None)),
}
_NEVER = datetime.fromtimestamp(0, UTC)
_COLUMNS = (
    'kind, document_id, "start", "end", entity_type, verdict, new_start, new_end, new_type, '
    "source, queue, surface, decided_at"
)
# In force: not undone, and the latest about its place. What measures a run is about that run only.
_IN_FORCE = f"""
SELECT id, {_COLUMNS} FROM decisions WHERE id IN (
    SELECT max(id) FROM decisions AS d
    WHERE kind = ? AND undoes IS NULL
        AND NOT EXISTS (SELECT 1 FROM decisions AS u WHERE u.undoes = d.id)
    GROUP BY document_id, "start", "end", entity_type, iif(kind = 'measure', source, '')
) ORDER BY id
"""
# The plus stops SQLite from using an index whose rows would have to be sorted by id.
_LAST = f"""
SELECT id, {_COLUMNS} FROM decisions AS d
WHERE +kind = ? AND undoes IS NULL AND (? = '' OR queue = ?)
    AND NOT EXISTS (SELECT 1 FROM decisions AS u WHERE u.undoes = d.id)
ORDER BY id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's judgement of one entity. It names the text, so it outlives runs and relabeling."""

    id: int  # grows; 0 before it is stored
    kind: str  # one of KINDS
    document_id: str
    start: int  # code points in the document
    end: int
    entity_type: str
    verdict: str  # one of VERDICTS
    new_start: int | None = None  # with new_end and new_type: what it should be; edited only
    new_end: int | None = None
    new_type: str | None = None
    source: str = ""  # the method or dictionary that proposed the entity
    queue: str = ""
    surface: str = ""  # the text decided on; shows when a document's id now names another text
    decided_at: datetime = _NEVER

    @property
    def place(self) -> Place:
        return (self.document_id, self.start, self.end, self.entity_type)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {self.kind!r}")
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict must be one of {VERDICTS}, got {self.verdict!r}")
        if not 0 <= self.start < self.end:
            raise ValueError(f"must satisfy 0 <= start < end, got {self.start}..{self.end}")
        new = (self.new_start, self.new_end, self.new_type)
        if (self.verdict == "edited") != (None not in new) or (
            self.verdict != "edited" and new != (None, None, None)
        ):
            raise ValueError(f"new_start, new_end and new_type belong to 'edited', got {new}")
        if self.new_start is not None and not 0 <= self.new_start < (self.new_end or 0):
            raise ValueError(f"must satisfy 0 <= new_start < new_end, got {new}")


@dataclass(frozen=True, slots=True)
class Review:
    """What the decisions say about documents: which entities are right, and which are wrong."""

    accepted: Mapping[str, tuple[Entity, ...]]
    rejected: Mapping[str, tuple[Entity, ...]]


def append_decision(db: sqlite3.Connection, decision: Decision) -> Decision:
    """Store a decision and return it with its id and time."""
    at = now()
    values = (
        decision.kind, *decision.place, decision.verdict, decision.new_start, decision.new_end,
        decision.new_type, decision.source, decision.queue, decision.surface, at,
    )  # fmt: skip
    marks = ", ".join("?" * len(values))
    cursor = db.execute(f"INSERT INTO decisions ({_COLUMNS}) VALUES ({marks})", values)
    return replace(decision, id=int(cursor.lastrowid or 0), decided_at=moment(at))


def append_undo(db: sqlite3.Connection, kind: str, queue: str = "") -> Decision | None:
    """Undo the latest decision of a kind (and queue, if named) and return it.

    An earlier decision about the same entity is in force again.
    """
    row = db.execute(_LAST, (kind, queue, queue)).fetchone()
    return append_undos(db, [_from_row(row)])[0] if row else None


def append_undos(db: sqlite3.Connection, decisions: Iterable[Decision]) -> list[Decision]:
    """Undo these decisions, and return those that had not been undone before."""
    undone = []
    for decision in decisions:
        done = db.execute(
            f"INSERT INTO decisions ({_COLUMNS}, undoes) "
            'SELECT kind, document_id, "start", "end", entity_type, \'\', NULL, NULL, NULL, '
            "source, queue, surface, ?, id FROM decisions AS d WHERE id = ? AND undoes IS NULL "
            "AND NOT EXISTS (SELECT 1 FROM decisions AS u WHERE u.undoes = d.id)",
            (now(), decision.id),
        )
        undone += [decision] * done.rowcount
    return undone


def decisions_in_force(db: sqlite3.Connection, kind: str) -> list[Decision]:
    """Return the latest decision per place that was not undone, oldest first."""
    return [_from_row(row) for row in db.execute(_IN_FORCE, (kind,))]


def _from_row(row: sqlite3.Row) -> Decision:
    values = dict(row)
    try:
        if not all(isinstance(values[name], kind) for name, kind in _KINDS.items()):
            raise TypeError("another kind of value")
        return Decision(**{**values, "decided_at": moment(values["decided_at"])})
    except (KeyError, ValueError, TypeError):
        raise InputError(
            f"decision {str(row[0])[:20]} of this project is damaged. Put back a backup of the "
            "project's folder, or import the zip that you downloaded last; your text is not lost"
        ) from None


def effect(decisions: Iterable[Decision], documents: Sequence[Document]) -> Review:
    """Return what the decisions mean for these documents; of two about one entity the later counts.

    An edited entity is rejected as it was, and accepted as it should be. Unsure and skipped have no
    effect. Decisions about a text that is no longer there are ignored.
    """
    texts = {document.id: document.text for document in documents}
    accepted: dict[Place, Entity] = {}
    rejected: dict[Place, Entity] = {}
    for decision in sorted(decisions, key=lambda d: d.id):
        if not _is_about(decision, texts.get(decision.document_id)):
            continue
        if decision.verdict == "accepted":
            _move(decision.place, decision, rejected, accepted)
        elif decision.verdict in ("rejected", "edited"):
            _move(decision.place, decision, accepted, rejected)
        if decision.verdict == "edited":
            assert decision.new_start is not None and decision.new_end is not None
            new = (decision.new_start, decision.new_end, str(decision.new_type))
            _move((decision.document_id, *new), decision, rejected, accepted)
    return Review(_by_document(accepted), _by_document(rejected))


def judgements(decisions: Iterable[Decision]) -> dict[Place, Judgement]:
    """Return decisions as a checked sample counts them: what was edited is wrong."""
    words = {"accepted": "correct", "rejected": "wrong", "edited": "wrong", "unsure": "unsure"}
    return {
        decision.place: Judgement(*decision.place, words[decision.verdict])
        for decision in decisions
        if decision.verdict in words
    }


def answers(
    decisions: Iterable[Decision], source: str, documents: Mapping[str, Document]
) -> dict[Place, Answer | None]:
    """Return what was said about the units of one run; None for "unsure"."""
    result: dict[Place, Answer | None] = {}
    for decision in decisions:
        document = documents.get(decision.document_id)
        if decision.source != source or not _is_about(
            decision, document.text if document else None
        ):
            continue
        if decision.verdict == "accepted":
            result[decision.place] = Answer(True, 1)
        elif decision.verdict in NAME_COUNTS:
            result[decision.place] = Answer(False, int(decision.verdict))
        elif decision.verdict == "unsure":
            result[decision.place] = None
    return result


def _is_about(decision: Decision, text: str | None) -> bool:
    if text is None or max(decision.end, decision.new_end or 0) > len(text):
        return False
    return decision.surface in ("", text[decision.start : decision.end])


def _move(
    place: Place, decision: Decision, out_of: dict[Place, Entity], into: dict[Place, Entity]
) -> None:
    out_of.pop(place, None)
    into[place] = Entity(
        *place[1:], method="review", source=decision.source, review_status=decision.verdict
    )


def _by_document(entities: Mapping[Place, Entity]) -> dict[str, tuple[Entity, ...]]:
    by_document: dict[str, list[Entity]] = {}
    for place in sorted(entities):
        by_document.setdefault(place[0], []).append(entities[place])
    return {id: tuple(in_document) for id, in_document in by_document.items()}
