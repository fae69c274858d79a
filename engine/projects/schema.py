"""Check every row of an imported database against what Glossa writes, before anything uses it.

The columns and their kinds come from the migrations. What is in them beyond that, mostly JSON, is
described here as small checks: functions that say whether a value is as we write it.
"""

import json
import math
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.planning import METHODS
from engine.projects.connection import DATABASE, connected, open_to_read
from engine.projects.files import GOLD, TEXT, is_file_id
from engine.projects.migrations import TABLES, take_steps
from engine.review import KINDS, VERDICTS
from engine.settings import ENCODERS, LANGUAGES, SETTING_RULES, TRAINING_PRESETS, ReadOptions
from engine.text import InputError

Check = Callable[[Any], bool]
_LARGEST = 2**53  # a whole number that survives JSON and pandas
_YEARS = range(1970, 9_000)  # a moment must have room for any time zone
_DEEPEST = 50  # nested lists and objects; ours have five
_STATES = ("queued", "running", "stopping", "cancelled", "failed", "interrupted", "done")
_JOB_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}", re.ASCII)
_OPTIONS = frozenset(field.name for field in fields(ReadOptions))


def check_rows(folder: Path, name: str) -> None:
    """Raise InputError at the first value in the database that Glossa would not have written.

    `name` is what the user calls the project: the name of its zip or folder.
    """
    expected = _columns_of_a_new_project()
    with connected(folder, open_to_read) as db:
        db.text_factory = bytearray  # so that text we cannot decode is a value, and no blob is text
        for table, columns in expected.items():
            if not _has_columns(db, table, columns):
                raise _refusal(name, f"table {table} has other columns")
            chosen = ", ".join(f'"{column}"' for column in columns)
            for number, row in enumerate(db.execute(f"SELECT {chosen} FROM {table}"), start=1):
                if wrong := _wrong_column(table, columns, row):
                    raise _refusal(name, f"table {table}, row {number:,}: {wrong}")


def _refusal(name: str, where: str) -> InputError:
    return InputError(
        f"{name}: {DATABASE} holds what no project holds ({where}). Download the project again"
    )


# ---- columns --------------------------------------------------------------------------------

_Columns = Mapping[str, tuple[str, bool]]  # declared type, and whether there is always a value


def _columns_of_a_new_project() -> dict[str, _Columns]:
    db = sqlite3.connect(":memory:")
    try:
        take_steps(db, Path(".no-project"))
        return {table: _columns(db, table) for table in sorted(TABLES)}
    finally:
        db.close()


def _columns(db: sqlite3.Connection, table: str) -> dict[str, tuple[str, bool]]:
    rows = db.execute(f"PRAGMA table_info({table})").fetchall()
    return {_decoded(r[1]): (_decoded(r[2]), bool(r[3]) or bool(r[5])) for r in rows}


def _decoded(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytearray) else str(value)


def _has_columns(db: sqlite3.Connection, table: str, columns: _Columns) -> bool:
    """Return whether a table has these columns, with the same keys: else rows are not replaced."""
    return _columns(db, table) == columns


def _wrong_column(table: str, columns: _Columns, row: sqlite3.Row) -> str:
    """Return the name of the first column whose value we would not write; "" if there is none."""
    values: dict[str, Any] = {}
    for (column, (kind, is_given)), stored in zip(columns.items(), row, strict=True):
        if stored is None:
            if is_given:
                return column
            values[column] = None
            continue
        try:
            value = stored.decode() if isinstance(stored, bytearray) else stored
        except UnicodeDecodeError:
            return f"{column} is not UTF-8"
        check = _COLUMNS.get((table, column), _KINDS[kind])
        if not (_KINDS[kind](value) and check(value)):
            return column
        values[column] = value
    return next((column for column, check in _ROWS.get(table, {}).items() if not check(values)), "")


# ---- checks ---------------------------------------------------------------------------------


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _anything(value: Any) -> bool:
    return True


def _whole(low: int = -_LARGEST, high: int = _LARGEST) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _figure(value: Any) -> bool:
    """A number that was measured: it may be NaN."""
    return type(value) in (int, float)


def _number(value: Any) -> bool:
    return _figure(value) and math.isfinite(value)


def _share(value: Any) -> bool:
    return _figure(value) and 0 <= value <= 1


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(*choices: str) -> Check:
    return lambda value: isinstance(value, str) and value in choices


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _table_of(check: Check) -> Check:
    """A JSON object with any names."""
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """A JSON object with these names, and no others if `optional` is given."""

    def check(value: Any) -> bool:
        if not isinstance(value, dict) or not required.keys() <= value.keys():
            return False
        if optional is not None and not value.keys() <= required.keys() | optional.keys():
            return False
        rules = {**(optional or {}), **required}
        return all(rules[name](value[name]) for name in value if name in rules)

    return check


def _moment(value: Any) -> bool:
    """A stored moment; "" stands for never."""
    try:
        return value == "" or datetime.fromisoformat(value).year in _YEARS
    except ValueError:
        return False


def _json(check: Check = _anything) -> Check:
    def check_text(value: Any) -> bool:
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return False
        return _depth(parsed) <= _DEEPEST and check(parsed)

    return check_text


def _depth(value: Any) -> int:
    """Return how deeply lists and objects are nested; counting ends just above the limit."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        inside = [v for v in level if isinstance(v, list | dict)]
        level = [x for v in inside for x in (v.values() if isinstance(v, dict) else v)]
        depth += bool(inside)
    return depth


def _job_id(value: Any) -> bool:
    return isinstance(value, str) and bool(_JOB_ID.fullmatch(value))


def _options(value: Any) -> bool:
    """Options of reading; those of another version are ignored when they are read."""
    if not isinstance(value, dict):
        return False
    try:
        ReadOptions(**{name: option for name, option in value.items() if name in _OPTIONS})
    except ValueError:
        return False
    return True


def _settings(value: Any) -> bool:
    """Changes to a preset: known names, with values of the right kind."""
    return isinstance(value, dict) and all(
        name in SETTING_RULES and (SETTING_RULES[name].allows(setting) or _number(setting))
        for name, setting in value.items()
    )


def _names(value: Any) -> bool:
    return _list_of(_text)(value) and bool(value)


# ---- what is in the columns -----------------------------------------------------------------

_METHOD = _one_of(*METHODS)
_COUNT = _whole(0)
_SEED = _whole(0, 2**32 - 1)
_SCORE = _table_of(_optional(_figure))
_TRAINING: dict[str, Check] = {
    "methods": _list_of(_METHOD),
    "preset": _one_of(*TRAINING_PRESETS),
    "encoder": _one_of(*ENCODERS),
    "settings": _settings,
}
REQUESTS: dict[str, dict[str, Check]] = {  # the fields of each kind's request; all have defaults
    "train": {
        **_TRAINING,
        "seed": _SEED,
        "priors": _optional(_table_of(_number)),
        "use_decisions": _flag,
        "hide": _number,
    },
    "probe": {**_TRAINING, "seed": _SEED},
    "curve": {**_TRAINING, "fractions": _list_of(_whole(1, 100)), "seeds": _list_of(_SEED)},
    "suggest": {"preset": _TRAINING["preset"], "settings": _settings},
    "predict": {
        "run": _job_id,
        "method": _METHOD,
        "files": _names,
        "options": _options,
        "is_fast": _flag,
    },
    "twin": {"run": _job_id, "method": _METHOD},
    "shards": {
        "run": _job_id,
        "method": _METHOD,
        "texts": _text,
        "out": _text,
        "address": _text,
        "format": _text,
    },
}
# Pages name the methods and the preset of every training, and the run of every prediction.
_NEEDED = {
    "train": ("methods", "preset"),
    "curve": ("methods", "preset", "fractions", "seeds"),
    "predict": ("run", "method", "files", "options"),  # earlier versions knew no twins
    "twin": ("run", "method"),
    "shards": ("run", "method", "texts", "out"),
}


def is_request(kind: str, record: Any) -> bool:
    """Return whether parsed JSON is the request of a job of this kind."""
    if kind not in REQUESTS or _depth(record) > _DEEPEST:
        return False
    rules = REQUESTS[kind]
    required = {name: rules[name] for name in _NEEDED.get(kind, ())}
    return _record(required, rules)(record)


def known_request(kind: str, record: Any) -> Any:
    """Return a project's own request without what only another version of Glossa knew.

    That is fields, options, settings, and values of settings that have been dropped since. An
    import is refused for them, but the jobs of one's own project must stay readable.
    """
    if kind not in REQUESTS or not isinstance(record, dict):
        return record
    known = {name: value for name, value in record.items() if name in REQUESTS[kind]}
    if isinstance(known.get("settings"), dict):
        pairs = known["settings"].items()
        known["settings"] = {name: value for name, value in pairs if _settings({name: value})}
    if isinstance(known.get("options"), dict):
        options = known["options"].items()
        known["options"] = {name: value for name, value in options if name in _OPTIONS}
    return known


def _request(row: Mapping[str, Any]) -> bool:
    return _json(lambda record: is_request(row["kind"], record))(row["request"])


_FACTS: dict[str, Check] = {  # of a job; others are ignored
    "notes": _list_of(_text),
    "shards": _record(
        {
            "done": _COUNT,
            "shards": _COUNT,
            "documents": _COUNT,
            "tokens": _COUNT,
            "entities": _table_of(_COUNT),
            "faults": _list_of(_text),
        }
    ),
    "priors": _list_of(
        _record({"entity_type": _text, "value": _number, "source": _text, "labeled_share": _figure})
    ),
    "all_priors": _record(
        {
            "types": _list_of(_text),
            "values": _list_of(_number),
            "source": _list_of(_text),
            "labeled_share": _list_of(_figure),
        }
    ),
    "scores": _table_of(
        _record(
            {"overall": _SCORE},
            {"by_type": _table_of(_SCORE), "tokens": _SCORE, "errors": _table_of(_figure)},
        )
    ),
    "confidence_scores": _record({"unlabeled": _SCORE, "all": _SCORE}),
    "confidence_histogram": _list_of(
        _record({"low": _number, "high": _number, "labeled": _COUNT, "unlabeled": _COUNT})
    ),
    "hidden_phrases": _record(
        {},
        {
            "problem": _text,
            "found": _table_of(
                _record(
                    {
                        "rate": _number,
                        "phrases": _list_of(_text),
                        "words": _list_of(_COUNT),
                        "found": _list_of(_COUNT),
                    },
                    {"after_epochs": _list_of(_COUNT), "epochs": _COUNT},
                )
            ),
        },
    ),
    "decisions": _record(dict.fromkeys(("accepted", "rejected"), _table_of(_list_of(_anything)))),
}
_CHOICES: dict[str, Check] = {  # what pages remember
    "check_size": _whole(1, 1_000_000),
    "priors": _record(
        {"labels_key": _text, "values": _table_of(_number), "notes": _list_of(_text)}
    ),
    "prediction": _text,
    "health_kept": _list_of(_text),
    "likely_review": _list_of(lambda pair: _list_of(_text)(pair) and len(pair) == 2),
    "review": _record(
        {},
        {
            "run": _text,
            "order": _text,
            "size": _whole(0),
            "seed": _SEED,
            "has_skipped": _flag,
        },
    ),
    "match_preset": _text,
    "language": _one_of(*LANGUAGES),
    "skipped_steps": _table_of(_whole(0)),
    "exported": _flag,
}
_POINT = _record(
    {
        "fraction": _whole(1, 100),
        "seed": _SEED,
        "method": _text,
        **dict.fromkeys(("precision", "recall", "f1"), _optional(_figure)),
        "token_coverage": _figure,
        "n_terms": _COUNT,
        "n_entities": _COUNT,
        "run_id": _text,
        "seconds": _figure,
    }
)


def is_fact(key: str, value: Any) -> bool:
    """Return whether parsed JSON is what a job stores under this key."""
    return _depth(value) <= _DEEPEST and _FACTS.get(key, _anything)(value)


def is_point(value: Any) -> bool:
    """Return whether parsed JSON is a point of a curve."""
    return _POINT(value)


_KINDS: dict[str, Check] = {"TEXT": _text, "INTEGER": _whole(), "REAL": _number}
_COLUMNS: dict[tuple[str, str], Check] = {
    ("files", "id"): is_file_id,
    ("files", "role"): _one_of(TEXT, GOLD),
    ("files", "bytes"): _COUNT,
    ("files", "options"): _json(_options),
    ("files", "renamed"): _json(_table_of(_text)),
    ("files", "documents"): _COUNT,
    ("files", "sentences"): _COUNT,
    ("files", "tokens"): _COUNT,
    ("files", "added_at"): _moment,
    ("dictionary_versions", "version"): _whole(1, 9_999_999),
    ("dictionary_versions", "saved_at"): _moment,
    ("dictionary_versions", "dictionaries"): _COUNT,
    ("dictionary_versions", "phrases"): _COUNT,
    ("decisions", "kind"): _one_of(*KINDS),
    ("decisions", "verdict"): _one_of("", *VERDICTS),  # "" undoes another row
    ("decisions", "start"): _COUNT,
    ("decisions", "end"): _COUNT,
    ("decisions", "decided_at"): _moment,
    ("jobs", "id"): _job_id,
    ("jobs", "kind"): _one_of(*REQUESTS),
    ("jobs", "state"): _one_of(*_STATES),
    ("jobs", "share"): _share,
    ("jobs", "created_at"): _moment,
    ("jobs", "queued_at"): _moment,
    ("jobs", "started_at"): _moment,
    ("jobs", "heartbeat_at"): _moment,
    ("jobs", "stop_at"): _moment,
    ("jobs", "finished_at"): _moment,
    ("jobs", "dictionary_version"): _COUNT,
    ("job_epochs", "at"): _moment,
    ("job_points", "point"): _json(is_point),
    ("job_speeds", "at"): _moment,
}
_Rows = Mapping[str, Callable[[Mapping[str, Any]], bool]]
_ROWS: dict[str, _Rows] = {  # checks that need more than one column, by the column to name
    "jobs": {"request": _request},
    "job_facts": {"value": lambda row: _json(lambda fact: is_fact(row["key"], fact))(row["value"])},
    "choices": {"value": lambda row: _json(_CHOICES.get(row["key"], _anything))(row["value"])},
}
