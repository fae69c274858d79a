"""One project: a folder with project.db and the files it speaks of. All of it is on disk.

An object of this class holds no state but the folder, so any number of threads and processes can
work on one project: files are written whole before a row names them, and every change of rows is
one short transaction.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine import dictionary_versions as versions
from engine import project_files as stored
from engine import project_store as store
from engine import project_text as text
from engine.alignment import Aligned, align, gold_of
from engine.decisions import (
    Decision,
    Review,
    append_decision,
    append_undo,
    decisions_in_force,
    effect,
)
from engine.dictionary import Dictionary, fingerprint
from engine.dictionary_files import read_dictionaries
from engine.dictionary_versions import DictionaryVersion
from engine.files import SourceFile
from engine.formats import read_corpus
from engine.formats.ids import unique_ids
from engine.project_files import GOLD, TEXT, StoredFile
from engine.settings import DEFAULT_MATCH_PRESET, MATCH_PRESETS, ReadOptions
from engine.text import Corpus, Document, InputError

_DEFAULT_OPTIONS = ReadOptions()
_LONGEST_NAME = 120
_MATCH_PRESET = "match_preset"


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk; `workspace` makes and opens them."""

    id: str
    folder: Path

    # ---- itself -----------------------------------------------------------------------------

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open project.db to look at: `with project.reading() as db: db.execute(...)`."""
        return store.reading(self.folder)

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open project.db to change it; the block is one transaction and must be short."""
        return store.writing(self.folder)

    @property
    def name(self) -> str:
        with self.reading() as db:
            return store.fact(db, "name", self.id)

    def rename(self, name: str) -> None:
        """Give the project another name; its id, and so its address, stays."""
        name = clean_project_name(name)
        with self.writing() as db:
            store.set_fact(db, "name", name)
            store.touch(db)

    @property
    def jobs_folder(self) -> Path:
        return self.folder / "runs"

    def size(self) -> int:
        """Return how many bytes the folder takes."""
        return sum(_sizes(self.folder))

    # ---- text -------------------------------------------------------------------------------

    def add_text(
        self, files: Sequence[SourceFile], options: ReadOptions = _DEFAULT_OPTIONS
    ) -> list[str]:
        """Keep the files and return what was noted while reading them.

        All or nothing: a file that cannot be read raises InputError and nothing is added.
        """
        stored.check_sizes(files)
        notes: list[str] = []
        with self.reading() as db:
            held = {(r.name, r.sha256, r.options) for r in stored.records(db, TEXT)}
        added: list[tuple[list[StoredFile], Corpus, list[SourceFile]]] = []
        for unit in stored.units_of(files):
            corpus = read_corpus(unit, options)
            records = stored.make_records(unit, options, TEXT, corpus)
            if {(r.name, r.sha256, r.options) for r in records} <= held:
                notes.append(f"{records[0].name} is in the project already, byte for byte")
                continue
            held |= {(r.name, r.sha256, r.options) for r in records}
            added.append((records, corpus, unit))
            notes += corpus.notes
        for records, corpus, unit in added:
            text.store_corpus(corpus, text.cache_path(self.folder, records))
            self._store_bytes(records, unit)
        if added:
            notes += self._insert_text([(records, corpus) for records, corpus, _ in added])
        return notes

    def _store_bytes(self, records: Sequence[StoredFile], files: Sequence[SourceFile]) -> None:
        data = {hashlib.sha256(file.data).hexdigest(): file.data for file in files}
        for record in records:
            stored.store_bytes(self.folder, record, data[record.sha256])

    def _insert_text(self, added: Sequence[tuple[list[StoredFile], Corpus]]) -> list[str]:
        """Choose document ids, and store the rows unless the text was changed meanwhile."""
        while True:
            key = self.text_key()
            with self.reading() as db:
                units = stored.by_unit(stored.records(db, TEXT))
            taken, notes, rows = text.used_ids(self.folder, units), [], []
            for records, corpus in added:
                if text.annotates_others(corpus):
                    text.check_annotations(corpus, self.corpus().documents)
                renamed = text.new_names(taken, corpus)
                taken += [renamed.get(d.id, d.id) for d in corpus.documents]
                if renamed:
                    notes.append(
                        f"{records[0].name}: {len(renamed):,} ids were used by another file "
                        'already; "~2" was added to them'
                    )
                rows += [stored.with_renames(record, renamed) for record in records]
            with self.writing() as db:
                if stored.content_key(stored.records(db, TEXT)) == key:
                    for row in rows:
                        stored.insert_record(db, row)
                    store.touch(db)
                    return notes

    def text_files(self) -> list[StoredFile]:
        """Return the text files in the order they were added."""
        with self.reading() as db:
            return stored.records(db, TEXT)

    def remove_text(self, file_id: str) -> None:
        """Remove a file, and with it those that are read together with it."""
        with self.writing() as db:
            units = stored.by_unit(stored.records(db, TEXT))
            gone = [unit for unit in units if file_id in {record.id for record in unit}]
            if not gone:
                raise InputError(f'there is no text file "{file_id}" in this project')
            db.execute("DELETE FROM files WHERE role = ? AND unit = ?", (TEXT, gone[0][0].unit))
            store.touch(db)
        stored.remove_bytes(self.folder, gone[0])
        text.sweep(self.folder, [unit for unit in units if unit not in gone], set())

    def text_key(self) -> str:
        """Return a hash of the text and how it is read; "" when there is none."""
        with self.reading() as db:
            return stored.content_key(stored.records(db, TEXT))

    def corpus(self) -> Corpus:
        """Return all text files as one corpus; read anew each time, so keep it."""
        units = stored.by_unit(self.text_files())
        return text.join_units(
            [(text.read_unit(self.folder, unit), dict(unit[0].renamed)) for unit in units]
        )

    # ---- gold -------------------------------------------------------------------------------

    def set_gold(
        self, files: Sequence[SourceFile], options: ReadOptions = _DEFAULT_OPTIONS
    ) -> list[str]:
        """Keep these files as the gold instead of what was there, and return notes.

        They must fit the project's text, if there is any.
        """
        stored.check_sizes(files)
        corpus = read_corpus(files, options)
        notes = list(corpus.notes)
        if self.text_key():
            notes += align(self.corpus().documents, gold_of(corpus)).notes
        elif not gold_of(corpus).entities:
            align((), gold_of(corpus))  # says what gold can be
        records = stored.make_records(files, options, GOLD, corpus)
        self._store_bytes(records, files)
        with self.writing() as db:
            old = stored.records(db, GOLD)
            db.execute("DELETE FROM files WHERE role = ?", (GOLD,))
            for record in records:
                stored.insert_record(db, record)
            store.touch(db)
        stored.remove_bytes(self.folder, old)
        return notes

    def remove_gold(self) -> None:
        """Remove the gold files; annotations inside text files stay."""
        with self.writing() as db:
            old = stored.records(db, GOLD)
            db.execute("DELETE FROM files WHERE role = ?", (GOLD,))
            store.touch(db)
        stored.remove_bytes(self.folder, old)

    def gold_files(self) -> list[StoredFile]:
        """Return the files that were given as gold."""
        with self.reading() as db:
            return stored.records(db, GOLD)

    def gold_key(self) -> str:
        """Return a hash of the gold files; "" when there are none."""
        return stored.content_key(self.gold_files())

    def gold(self, corpus: Corpus) -> Aligned | None:
        """Return the gold of these documents: its own file's, else what the text files carry."""
        files = self.gold_files()
        if files:
            sources = [stored.load_source(self.folder, record) for record in files]
            return align(corpus.documents, gold_of(read_corpus(sources, files[0].options)))
        ids = {document.id for document in corpus.documents}
        carried = {id: of for id, of in gold_of(corpus).entities.items() if id in ids}
        return Aligned(carried) if carried else None

    # ---- dictionaries -----------------------------------------------------------------------

    def dictionaries(self) -> list[Dictionary]:
        """Return the dictionaries as they are now."""
        version = self.dictionary_version()
        return self.dictionaries_at(version) if version else []

    def dictionary_version(self) -> int:
        """Return the number of the latest version; 0 when there is none."""
        with self.reading() as db:
            return _latest(db)[0]

    def dictionary_key(self) -> str:
        """Return the fingerprint of all dictionaries; "" when there are none."""
        with self.reading() as db:
            return _latest(db)[1]

    def save_dictionaries(
        self, dictionaries: Sequence[Dictionary], reason: str, based_on: int | None = None
    ) -> int:
        """Store the whole set as a new version and return its number; the same set: the same one.

        With `based_on`, the version the set was made from, a change made elsewhere meanwhile is
        not overwritten but raises InputError.
        """
        data, key = versions.packed(dictionaries), fingerprint(dictionaries)
        with self.writing() as db:
            version = _latest(db)[0]
            if based_on is not None and based_on != version:
                raise InputError(
                    f"the dictionaries were changed elsewhere (version {version}, not {based_on}). "
                    "Reload the page and make the change again"
                )
            return self._insert_version(db, dictionaries, data, (reason, key))

    def add_dictionaries(
        self,
        files: Sequence[SourceFile],
        options: ReadOptions = _DEFAULT_OPTIONS,
        entity_type: str | None = None,
    ) -> list[str]:
        """Read dictionaries, add them to the set as a new version, and return notes."""
        stored.check_sizes(files)
        read = read_dictionaries(files, options, entity_type)
        with self.writing() as db:
            version = _latest(db)[0]
            held = self.dictionaries_at(version) if version else []
            names, _ = unique_ids(d.name for d in (*held, *read))
            new = [replace(d, name=n) for d, n in zip(read, names[len(held) :], strict=True)]
            whole = [*held, *new]
            reason = "Added " + ", ".join(d.name for d in new)
            self._insert_version(db, whole, versions.packed(whole), (reason, fingerprint(whole)))
        return [f"{d.name}: {note}" for d in new for note in d.notes]

    def _insert_version(
        self,
        db: sqlite3.Connection,
        dictionaries: Sequence[Dictionary],
        data: bytes,
        described: tuple[str, str],
    ) -> int:
        latest, _, old_hash = _latest(db)
        new_hash = versions.content_hash(data)
        if latest and new_hash == old_hash:
            return latest
        version = latest + 1
        versions.store_version(data, versions.version_path(self.folder, version))
        db.execute(
            "INSERT INTO dictionary_versions VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                version, store.now(), described[0][:500], len(dictionaries),
                sum(len(d.phrases) for d in dictionaries), described[1], new_hash,
            ),
        )  # fmt: skip
        store.touch(db)
        return version

    def dictionary_history(self) -> list[DictionaryVersion]:
        """Return all versions, latest first."""
        with self.reading() as db:
            rows = db.execute("SELECT * FROM dictionary_versions ORDER BY version DESC").fetchall()
        return [
            DictionaryVersion(
                row["version"], store.moment(row["saved_at"]), row["reason"], row["phrases"],
                row["key"],
            )
            for row in rows
        ]  # fmt: skip

    def dictionaries_at(self, version: int) -> list[Dictionary]:
        """Return the dictionaries as they were in a version."""
        path = versions.version_path(self.folder, version)
        if version < 1 or not path.is_file():
            raise InputError(f"there is no version {version} of the dictionaries")
        return versions.load_version(path)

    def restore_dictionaries(self, version: int) -> int:
        """Make an earlier version the latest again, as a new one, and return its number."""
        return self.save_dictionaries(self.dictionaries_at(version), f"Restored version {version}")

    def match_preset(self) -> str:
        """Return how freely phrases match, by the preset's name."""
        preset = self.choice(_MATCH_PRESET, DEFAULT_MATCH_PRESET)
        return preset if preset in MATCH_PRESETS else DEFAULT_MATCH_PRESET

    def set_match_preset(self, name: str) -> None:
        """Choose how freely phrases match."""
        if name not in MATCH_PRESETS:
            raise ValueError(f"match preset must be one of {list(MATCH_PRESETS)}, got {name!r}")
        self.set_choice(_MATCH_PRESET, name)

    def labels_key(self) -> str:
        """Return a hash of all that distant labels follow from: text, dictionaries, preset."""
        with self.reading() as db:
            parts = (
                stored.content_key(stored.records(db, TEXT)),
                _latest(db)[2],
                store.choice(db, _MATCH_PRESET, DEFAULT_MATCH_PRESET),
            )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    # ---- choices and decisions --------------------------------------------------------------

    def choice(self, key: str, default: Any = None) -> Any:
        """Return a remembered choice."""
        with self.reading() as db:
            return store.choice(db, key, default)

    def set_choice(self, key: str, value: Any) -> None:
        """Remember a choice: any JSON value."""
        with self.writing() as db:
            store.set_choice(db, key, value)

    def add_decision(
        self,
        kind: str,
        document_id: str,
        start: int,
        end: int,
        entity_type: str,
        verdict: str,
        *,
        new_start: int | None = None,
        new_end: int | None = None,
        new_type: str | None = None,
        source: str = "",
        queue: str = "",
        surface: str = "",
    ) -> Decision:
        """Store a decision; it is on disk when this returns."""
        return self.add_decisions(
            [
                Decision(
                    0, kind, document_id, start, end, entity_type, verdict, new_start, new_end,
                    new_type, source, queue, surface,
                )
            ]
        )[0]  # fmt: skip

    def add_decisions(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Store several decisions at once, all or none ("accept this page")."""
        with self.writing() as db:
            added = [append_decision(db, decision) for decision in decisions]
            store.touch(db)
        return added

    def undo_decision(self, kind: str, queue: str = "") -> Decision | None:
        """Take back the latest decision of a kind (in one queue, if named) and return it."""
        with self.writing() as db:
            return append_undo(db, kind, queue)

    def decisions(self, kind: str) -> list[Decision]:
        """Return the decisions in force: the latest of each place, oldest first."""
        with self.reading() as db:
            return decisions_in_force(db, kind)

    def review_effect(self, documents: Sequence[Document]) -> Review:
        """Return what was accepted and rejected in these documents, checks and review together."""
        return effect([*self.decisions("check"), *self.decisions("review")], documents)


def clean_project_name(name: str) -> str:
    """Return the name on one line, without what cannot be shown; InputError when none is left."""
    printable = "".join(c if c.isprintable() else " " for c in name)
    cleaned = " ".join(printable.split())[:_LONGEST_NAME].strip()
    if not cleaned:
        raise InputError("the project has no name. Type one")
    return cleaned


def _latest(db: sqlite3.Connection) -> tuple[int, str, str]:
    row = db.execute(
        "SELECT version, key, sha256 FROM dictionary_versions ORDER BY version DESC LIMIT 1"
    ).fetchone()
    return (row[0], row[1], row[2]) if row else (0, "", "")


def _sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(parent, name)).st_size
            except OSError:  # gone since it was listed
                continue
