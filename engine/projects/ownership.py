"""Who owns a project, and with whom it is shared: e-mail addresses of people who signed in.

A project without an owner belongs to everyone: the sample, projects made at the command line or
without OpenID Connect, and those of an earlier Glossa.
"""

import sqlite3

from engine.text import InputError

_OWNER, _GUEST = "owner", "guest"
_LONGEST_ADDRESS = 254


def clean_address(address: str) -> str:
    """Return an e-mail address in the form in which it is compared; InputError if it is none.

    >>> clean_address(" Ann@Example.org ")
    'ann@example.org'
    """
    cleaned = address.strip().lower()
    name, at, host = cleaned.rpartition("@")
    is_plain = cleaned.isprintable() and not any(c.isspace() for c in cleaned)
    if not (name and at and host and is_plain and len(cleaned) <= _LONGEST_ADDRESS):
        shown = "".join(c if c.isprintable() else " " for c in cleaned[:80])
        raise InputError(f'"{shown}" is no e-mail address. Write it as in ann@example.org')
    return cleaned


def owner_of(db: sqlite3.Connection) -> str:
    """Return the owner's address; "" if the project belongs to everyone."""
    row = db.execute("SELECT address FROM members WHERE role = ?", (_OWNER,)).fetchone()
    return "" if row is None else str(row[0])


def guests_of(db: sqlite3.Connection) -> tuple[str, ...]:
    """Return the addresses that the project is shared with, in order."""
    rows = db.execute("SELECT address FROM members WHERE role = ? ORDER BY address", (_GUEST,))
    return tuple(str(address) for [address] in rows)


def may_open(db: sqlite3.Connection, user: str | None) -> bool:
    """Return whether this user may open the project; None is whoever has the data folder."""
    owner = owner_of(db)
    return user is None or not owner or user == owner or user in guests_of(db)


def may_manage(db: sqlite3.Connection, user: str | None) -> bool:
    """Return whether this user may share and delete the project."""
    return user is None or owner_of(db) in ("", user)


def set_owner(db: sqlite3.Connection, owner: str | None) -> None:
    """Give the project to a user alone, or to everyone; nobody else shares it any more."""
    db.execute("DELETE FROM members")
    if owner is not None:
        db.execute("INSERT INTO members VALUES (?, ?)", (clean_address(owner), _OWNER))


def add_guest(db: sqlite3.Connection, address: str) -> None:
    """Share the project with an address; with its owner this changes nothing."""
    db.execute("INSERT OR IGNORE INTO members VALUES (?, ?)", (clean_address(address), _GUEST))


def remove_guest(db: sqlite3.Connection, address: str) -> None:
    """Stop sharing the project with an address."""
    db.execute("DELETE FROM members WHERE address = ? AND role = ?", (address, _GUEST))
