"""Change a file: flips, cuts, splices, extreme values; JSON, zips and databases by structure."""

import io
import json
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

LARGEST = 900_000  # bytes of a mutated file: what less than 1 MB may cost is limited

_NUMBER = re.compile(rb"\d+")
_NUMBERS = (
    b"-1", b"0", b"1e999", b"NaN", b"Infinity", b"1.5", b"00", b"2147483648", b"9" * 18,
    b"9223372036854775808", b"9" * 5000, "٣".encode(), "²".encode(), b"0x10", b"1_0", b"",
)  # fmt: skip
_INSERTS = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\r", b"\n",
    b"\r\n", b"\t", b" ", b'"', b"'", b'""', b",", b";", b"|", b"\\", b"[", b"]", b"{", b"}", b"#",
    b"-DOCSTART-", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1a", b"\x0b\x0c\x1c\x85",
    "\u2028\u202e\ufeff".encode(), "e\u0301\u200d😀".encode(), b"PK\x03\x04", b"SQLite format 3\0",
    b"%PDF", b"../", b"/etc/passwd",
    b"null", b"true", b"\\", b"B-", b"I-", b"O", b"T1\t", b"id|t|", b"+2AA-", b"=cmd()", b"%00",
)  # fmt: skip
_LONG = (
    b"[", b"{", b'{"a":', b'"', b"x", b" ", b"\t", b",", b"\n", b"\r", b"a b. ", b"\xcc\x81", b"\\",
    b"'", b"(", b"-", b"1", "😀".encode(), b"x\n", b"a,", b"a|t|", b"U.S. ", b"<",
    b"\xf3\xa0\x81\xa1",
)  # fmt: skip
_ENCODINGS = (
    "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "windows-1252", "latin-1", "utf-7",
    "shift_jis", "gb18030", "cp037", "unicode_escape",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, float("nan"), float("inf"), 2**31, 2**63, 2**64, 10**400, "",
    " ", "x" * 70, "\0", "\ud800", "a\nb\u2028c", "../../x", "/etc/passwd", "NaN",
    "2026-13-45", "９",
    "\ufeff", "x" * 5_000, [], {}, [[]], [None], {"": None}, ["x"] * 50, {"text": []}, [1, 2, 3],
    "9999-12-31T23:59:59.999999+00:00", "0001-01-01T00:00:00-23:59", "{}", "[]", "null",
    b"\xff\xfe",
)  # fmt: skip
_MEMBER_NAMES = (
    "../evil.txt", "/evil.txt", "..\\evil.txt", "C:evil.txt", "a/../../evil.txt", "evil.zip", "",
    ".", "..", "a//b.txt", "a\0b.txt", "x" * 300 + ".txt", "l" * 5_000 + ".csv",
    "a\nb.txt", "con.txt",
    "project.db", "cache/x", "__MACOSX/a.txt", "a.ann", "%2e%2e.txt", "\u202etxt.a", "runs",
)  # fmt: skip


def mutate(name: str, data: bytes, random: Random, others: list[bytes]) -> bytes:
    """Return the file with one to four changes; `others` are files to splice pieces of."""
    for _ in range(random.choice((1, 1, 2, 2, 3, 4))):
        data = _mutated(name, data, random, others)[:LARGEST]
    return data


def _mutated(name: str, data: bytes, random: Random, others: list[bytes]) -> bytes:
    ending = Path(name).suffix
    if data.startswith(b"PK") and random.random() < 0.7:
        return _changed_zip(data, random, others)
    if data.startswith(b"SQLite") and random.random() < 0.8:
        return _changed_database(data, random)
    if ending in (".json", ".jsonl") and random.random() < 0.7:
        return _changed_json(data, random)
    change = random.choice(_BYTE_CHANGES)
    return change(data, random, others)


# ---- bytes ----------------------------------------------------------------------------------


def _place(data: bytes, random: Random) -> int:
    # Headers matter more than what follows.
    return random.randint(0, min(len(data), 200) if random.random() < 0.3 else len(data))


def _flip(data: bytes, random: Random, others: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20)) if changed else 0):
        at = min(_place(data, random), len(changed) - 1)
        changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(data: bytes, random: Random, others: list[bytes]) -> bytes:
    start = _place(data, random)
    end = start + random.choice((1, 2, 10, 100, len(data)))
    return data[:start] + data[end:]


def _repeat(data: bytes, random: Random, others: list[bytes]) -> bytes:
    start = _place(data, random)
    piece = data[start : start + random.choice((1, 10, 100, 1000))]
    return data[:start] + piece * random.choice((2, 2, 3, 50)) + data[start:]


def _splice(data: bytes, random: Random, others: list[bytes]) -> bytes:
    other = random.choice(others)
    start, length = _place(other, random), random.choice((4, 40, 400, 4000))
    at = _place(data, random)
    return data[:at] + other[start : start + length] + data[at + random.choice((0, length)) :]


def _insert(data: bytes, random: Random, others: list[bytes]) -> bytes:
    at = _place(data, random)
    return data[:at] + random.choice(_INSERTS) + data[at + random.choice((0, 0, 1)) :]


def _insert_long(data: bytes, random: Random, others: list[bytes]) -> bytes:
    at = _place(data, random)
    times = random.choice((50, 300, 2_000, 2_000, 20_000) if random.random() < 0.97 else (100_000,))
    return data[:at] + random.choice(_LONG) * times + data[at:]


def _number(data: bytes, random: Random, others: list[bytes]) -> bytes:
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return _insert(data, random, others)
    start, end = random.choice(numbers).span()
    return data[:start] + random.choice(_NUMBERS) + data[end:]


def _lines(data: bytes, random: Random, others: list[bytes]) -> bytes:
    lines = data.split(b"\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    action = random.randrange(4)
    if action == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif action == 1:
        del lines[i]
    elif action == 2:
        lines.insert(i, lines[j])
    else:
        cells = re.split(rb"([\t,; |])", lines[i])
        random.shuffle(cells)
        lines[i] = b"".join(cells)
    return b"\n".join(lines)


def _recode(data: bytes, random: Random, others: list[bytes]) -> bytes:
    return data.decode(errors="replace").encode(random.choice(_ENCODINGS), "replace")


_BYTE_CHANGES: tuple[Callable[[bytes, Random, list[bytes]], bytes], ...] = (
    _flip, _flip, _cut, _cut, _repeat, _splice, _insert, _insert, _insert_long, _number, _number,
    _lines, _lines, _recode,
)  # fmt: skip


# ---- JSON -----------------------------------------------------------------------------------


def _changed_json(data: bytes, random: Random) -> bytes:
    """Change a value, a key or the shape of JSON or of a JSON line; bytes if it is none."""
    lines = [data] if random.random() < 0.2 else data.split(b"\n")
    for _ in range(8):
        i = random.randrange(len(lines))
        try:
            value = json.loads(lines[i])
        except (ValueError, RecursionError):
            lines = [data] if random.random() < 0.5 else lines
            continue
        lines[i] = _dumped(_changed_value(value, random, 0), random)
        return b"\n".join(lines)
    return _insert(data, random, [])


def _dumped(value: Any, random: Random) -> bytes:
    indent = random.choice((None, None, 2))
    shown = json.dumps(value, ensure_ascii=random.random() < 0.7, indent=indent, default=str)
    return shown.encode("utf-8", "surrogatepass")


def _changed_value(value: Any, random: Random, depth: int) -> Any:
    if isinstance(value, dict) and value and (depth == 0 or random.random() < 0.8):
        key = random.choice(list(value))
        action = random.randrange(8)
        if action == 0:
            return {k: v for k, v in value.items() if k != key}
        if action == 1:
            name = random.choice(
                (key.upper(), f" {key}", "id", "text", "label", "", "x" * 400, "a\nb")
            )
            return {name if k == key else k: v for k, v in value.items()}
        return {**value, key: _changed_value(value[key], random, depth + 1)}
    if isinstance(value, list) and value and (depth == 0 or random.random() < 0.8):
        i = random.randrange(len(value))
        action = random.randrange(8)
        if action == 0:
            return [*value[:i], *value[i + 1 :]]
        if action == 1:
            return [*value[:i], value[i], *value[i:]]
        return [*value[:i], _changed_value(value[i], random, depth + 1), *value[i + 1 :]]
    action = random.randrange(6)
    if action == 0:
        return [value]
    if action == 1 and isinstance(value, int | float):
        half = value + 0.5 if abs(value) < 10**300 else value  # a larger one is no float
        return random.choice((value + 1, -value, value * 10**6, str(value), half))
    if action == 2 and isinstance(value, str):
        return random.choice((value[::-1], value + "\0", value + "\ud83d", value * 20, value[:1]))
    return random.choice([item for item in VALUES if not isinstance(item, bytes)])


# ---- zip archives ---------------------------------------------------------------------------


def _changed_zip(data: bytes, random: Random, others: list[bytes]) -> bytes:
    """Change a member's content, name, number or size; bytes if it cannot be opened."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except Exception:  # a zip that earlier changes damaged
        return random.choice(_BYTE_CHANGES)(data, random, others)
    if not members:
        return _splice(data, random, others)
    i = random.randrange(len(members))
    name, content = members[i]
    action = random.randrange(8)
    if action == 0:
        members[i] = (random.choice(_MEMBER_NAMES), content)
    elif action == 1:
        del members[i]
    elif action == 2:
        members.append((random.choice((name, *_MEMBER_NAMES)), random.choice(others)[:20_000]))
    elif action == 3:
        members[i] = (name, b"")
    else:
        members[i] = (name, _mutated(name, content, random, others))
    return _zip(members, random)


def _zip(members: list[tuple[str, bytes]], random: Random) -> bytes:
    buffer = io.BytesIO()
    kind = random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, content in members:
            info = zipfile.ZipInfo("x")
            info.filename = name  # as it is: the constructor mends some names
            if random.random() < 0.02:
                info.external_attr = 0o120777 << 16  # a link
            info.compress_type = kind
            # Twice the same name is what is tested, and zipfile warns about it.
            archive.writestr(info, content[:LARGEST])
    packed = bytearray(buffer.getvalue())
    if random.random() < 0.1:
        at = packed.rfind(b"PK\x01\x02")
        if at >= 0:
            packed[at + random.randrange(46)] ^= 1 << random.randrange(8)
    return bytes(packed)


# ---- databases ------------------------------------------------------------------------------


def _changed_database(data: bytes, random: Random) -> bytes:
    """Change a cell, a row, a table or the version; bytes if it cannot be opened."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        path.write_bytes(data)
        db = sqlite3.connect(path)
        try:
            _change_rows(db, random)
            db.commit()
        except (sqlite3.Error, OverflowError, UnicodeError):
            pass
        finally:
            db.close()
        return path.read_bytes()


def _change_rows(db: sqlite3.Connection, random: Random) -> None:
    db.execute("PRAGMA journal_mode=DELETE")
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA ignore_check_constraints=ON")
    names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    full = [
        name for [name] in db.execute(names) if db.execute(f'SELECT 1 FROM "{name}"').fetchone()
    ]
    table = random.choice(full)
    columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
    column = random.choice(columns)
    rows = db.execute(f'SELECT rowid, "{column}" FROM "{table}" ORDER BY rowid').fetchall()
    rowid, value = random.choice(rows)
    action = random.randrange(12)
    if action == 0:
        db.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (rowid,))
    elif action == 1:
        db.execute(f'DROP TABLE "{table}"')
    elif action == 2:
        db.execute(f"PRAGMA user_version = {random.choice((-1, 0, 1, 2, 99, 2**31 - 1))}")
    elif action == 3:
        db.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO odd')
    else:
        stored = _stored(value, random)
        db.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (stored, rowid))


def _stored(value: Any, random: Random) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "[") and random.random() < 0.7:
        return _changed_json(value.encode(), random).decode(errors="replace")
    if random.random() < 0.1:
        return "[" * 100_000
    chosen = random.choice(VALUES)
    return json.dumps(chosen) if isinstance(chosen, list | dict) else chosen
