"""One project: a folder with project.db and the files that it names. Everything is on disk.

A `Project` holds only the name of its folder, so any number of threads and processes can use one:
files are written whole before a row names them, every change of rows is one short transaction, and
an action that depends on an earlier reading starts again when that has changed.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.dictionaries import (
    NEVER,
    Dictionary,
    PhraseRow,
    as_never,
    clean_type,
    list_phrases,
    mute_phrases,
    mute_short_forms,
    read_dictionaries,
    relabel_phrases,
    unmute_phrases,
)
from engine.files import GivenFile, read_whole
from engine.formats import Aligned
from engine.projects import files as stored
from engine.projects import gold as project_gold
from engine.projects import opinions as project_opinions
from engine.projects import store as store
from engine.projects import texts as project_text
from engine.projects import versions as versions
from engine.projects.connection import DATABASE
from engine.projects.files import GOLD, TEXT, StoredFile
from engine.projects.opinions import Opinion
from engine.projects.versions import DictionaryVersion
from engine.review import (
    Decision,
    Review,
    add_phrases,
    append_decision,
    append_undo,
    append_undos,
    decisions_in_force,
    effect,
)
from engine.settings import ENGLISH, LANGUAGES, MATCH_PRESETS, ReadOptions
from engine.text import Corpus, Document, Entity, InputError

_DEFAULT_OPTIONS = ReadOptions()
_LONGEST_NAME = 120
_EARLIER_PRESET = "balanced"  # the default of version 0.1


@dataclass(frozen=True, slots=True)
class Project:
    """A project on disk; `workspace` makes and opens them."""

    id: str
    folder: Path

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open project.db to read: `with project.reading() as db: db.execute(...)`."""
        return store.reading(self.folder)

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Open project.db to change it; the block is one transaction and must be short."""
        return store.writing(self.folder)

    @property
    def name(self) -> str:
        with self.reading() as db:
            return store.fact(db, "name", self.id)

    def rename(self, name: str) -> None:
        """Rename the project; its id, and so its address, stays."""
        name = clean_project_name(name)
        with self.writing() as db:
            store.set_fact(db, "name", name)
            store.touch(db)

    @property
    def jobs_folder(self) -> Path:
        return self.folder / stored.RUNS

    def size(self) -> int:
        """Return the size of the folder in bytes, without SQLite's temporary files."""
        return sum(_sizes(self.folder))

    # ---- text -------------------------------------------------------------------------------

    def add_text(
        self,
        files: Sequence[GivenFile],
        options: ReadOptions = _DEFAULT_OPTIONS,
        read: Sequence[Corpus] | None = None,
    ) -> list[str]:
        """Store the files and return notes about reading them.

        All or nothing: a file that cannot be read raises InputError and nothing is added. `read` is
        what `project_text.read_units` returned for the same files and options; with it, they are
        not split and tokenized again.
        """
        return project_text.add_text(self.folder, files, options, read)

    def text_files(self) -> list[StoredFile]:
        """Return the text files in the order they were added."""
        with self.reading() as db:
            return stored.records(db, TEXT)

    def remove_text(self, file_id: str) -> None:
        """Remove a file, and those that are read together with it (.txt and .ann)."""
        project_text.remove_text(self.folder, file_id)

    def text_key(self) -> str:
        """Return a hash of the text and how it is read; "" when there is none."""
        with self.reading() as db:
            return store.fact(db, "text_key")

    def language(self) -> str:
        """Return the code of the language that the text is read in."""
        with self.reading() as db:
            code = store.choice(db, store.LANGUAGE)
        return code if code in LANGUAGES else ENGLISH

    def set_language(self, code: str) -> None:
        """Read all text as that of a language: its sentences may end elsewhere."""
        project_text.set_language(self.folder, code)

    def corpus(self) -> Corpus:
        """Return all text files as one corpus; it is loaded each time, so keep it."""
        return project_text.read_text(self.folder)

    # ---- gold -------------------------------------------------------------------------------

    def set_gold(
        self,
        files: Sequence[GivenFile],
        options: ReadOptions = _DEFAULT_OPTIONS,
        read: Corpus | None = None,
    ) -> list[str]:
        """Store these files as the gold, in place of earlier ones, and return notes.

        InputError when they hold no annotations, or fit none of the project's documents. `read` is
        what `read_corpus` returned for the same files and options; with it, they are not read
        again.
        """
        return project_gold.set_gold(self.folder, files, options, read)

    def remove_gold(self) -> None:
        """Remove the gold files; annotations inside text files stay."""
        project_gold.remove_gold(self.folder)

    def gold_files(self) -> list[StoredFile]:
        """Return the files that were given as gold."""
        with self.reading() as db:
            return stored.records(db, GOLD)

    def gold_key(self) -> str:
        """Return a hash of the gold files; "" when there are none."""
        with self.reading() as db:
            return store.fact(db, "gold_key")

    def gold(self, corpus: Corpus) -> Aligned | None:
        """Return the gold of these documents: from gold files, else from the text files."""
        return project_gold.read_gold(self.folder, corpus)

    # ---- opinions ---------------------------------------------------------------------------

    def add_opinion(
        self,
        name: str,
        files: Sequence[GivenFile],
        options: ReadOptions = _DEFAULT_OPTIONS,
        format: str | None = None,
    ) -> list[str]:
        """Keep what another system or a person found, under a name, and return notes.

        An opinion of this name is replaced. InputError if the entities do not fit the text.
        """
        return project_opinions.add_opinion(self.folder, name, files, options, format)

    def opinions(self) -> list[Opinion]:
        """Return what is known about each opinion, by name."""
        return project_opinions.opinions(self.folder)

    def opinions_key(self) -> str:
        """Return a hash that changes with the opinions; "" if there are none."""
        return project_opinions.opinions_key(self.folder)

    def opinion_entities(
        self, name: str, documents: Sequence[Document]
    ) -> Mapping[str, tuple[Entity, ...]]:
        """Return the entities of an opinion in documents whose text is as it was."""
        return project_opinions.opinion_entities(self.folder, name, documents)

    def label_with_opinion(self, name: str, priority: int = 0) -> int:
        """Add an opinion to the dictionaries, and return the version; it labels its places.

        An earlier one of this name is replaced. It is muted, checked and removed like any
        dictionary; removing the opinion itself does not change it.
        """
        new = project_opinions.as_dictionary(self.folder, name, self.corpus().documents)
        [added] = self.join_dictionaries([new], is_replacing=True)
        if added.priority == priority:
            return self.dictionary_version()
        held = [
            replace(d, priority=priority) if d.name == added.name else d
            for d in self.dictionaries()
        ]
        return self.save_dictionaries(held, f"{added.name}: priority {priority}")

    def remove_opinion(self, name: str) -> None:
        """Remove an opinion."""
        project_opinions.remove_opinion(self.folder, name)

    # ---- dictionaries -----------------------------------------------------------------------

    def dictionaries(self) -> list[Dictionary]:
        """Return the dictionaries as they are now."""
        return versions.load(self.folder, self.dictionary_version())

    def dictionary_version(self) -> int:
        """Return the number of the latest version; 0 when there is none."""
        with self.reading() as db:
            return versions.latest(db).version

    def dictionary_key(self, version: int | None = None) -> str:
        """Return the fingerprint of all dictionaries, as they are or were; "" for none."""
        with self.reading() as db:
            return versions.content_of(db, version).key

    def save_dictionaries(
        self,
        dictionaries: Sequence[Dictionary],
        reason: str,
        based_on: int | None = None,
        match_preset: str | None = None,
    ) -> int:
        """Store all dictionaries as a new version and return its number; an equal set adds none.

        `based_on` is the version that was changed: InputError when there is a newer one. With
        `match_preset`, how freely phrases match is changed in the same transaction.
        """
        choices = {}
        if match_preset is not None:
            choices[store.MATCH_PRESET] = _checked_preset(match_preset)
        return versions.save(self.folder, dictionaries, reason, based_on, choices)

    def add_dictionaries(
        self,
        files: Sequence[GivenFile],
        options: ReadOptions = _DEFAULT_OPTIONS,
        entity_type: str | None = None,
        *,
        is_never: bool = False,
    ) -> list[str]:
        """Read dictionaries, add them to the set as a new version, and return notes.

        If `is_never`, all their phrases are never an entity.
        """
        sources = [read_whole(file) for file in stored.checked(files)]
        new = read_dictionaries(sources, options, NEVER if is_never else entity_type)
        added = self.join_dictionaries(as_never(new) if is_never else new)
        return [f"{dictionary.name}: {note}" for dictionary in added for note in dictionary.notes]

    def join_dictionaries(
        self, new: Sequence[Dictionary], *, is_replacing: bool = False
    ) -> list[Dictionary]:
        """Add dictionaries to the set as a new version and return them as they are in it.

        If a name is taken, the new dictionary gets another one, or replaces the old dictionary.
        """
        return versions.add(self.folder, new, is_replacing=is_replacing)

    def remove_dictionaries(self, names: Sequence[str]) -> int:
        """Take dictionaries out of the set as a new version and return its number."""
        version = self.dictionary_version()
        kept = [d for d in self.dictionaries_at(version) if d.name not in names]
        return self.save_dictionaries(kept, f"Removed {', '.join(names)}", based_on=version)

    def mute_phrases(self, rows: Sequence[PhraseRow]) -> int:
        """Let these phrases match nothing; return the version, the same one if they did not."""
        version = self.dictionary_version()
        changed = mute_phrases(self.dictionaries_at(version), rows)
        return self.save_dictionaries(changed, f"Muted {_listed(rows)}", based_on=version)

    def mute_short_forms(self, rows: Sequence[PhraseRow]) -> int:
        """Let these abbreviations of a dictionary's phrases match nothing; return the version."""
        version = self.dictionary_version()
        changed = mute_short_forms(self.dictionaries_at(version), rows)
        return self.save_dictionaries(changed, f"Muted {_listed(rows)}", based_on=version)

    def unmute_phrases(self, rows: Sequence[PhraseRow]) -> int:
        """Let these phrases match again; return the version, the same one if none was muted."""
        version = self.dictionary_version()
        changed = unmute_phrases(self.dictionaries_at(version), rows)
        return self.save_dictionaries(changed, f"Unmuted {_listed(rows)}", based_on=version)

    def add_phrases(
        self, chosen: Sequence[tuple[str, str]], source: str = "review"
    ) -> tuple[int, int]:
        """Add (phrase, type) pairs to the dictionary "From review", or from another source.

        Return the version and how many pairs were new.
        """
        version = self.dictionary_version()
        before = self.dictionaries_at(version)
        after = add_phrases(before, chosen, f"From {source}")
        count = sum(len(d.phrases) for d in after) - sum(len(d.phrases) for d in before)
        reason = f"{count:,} {'phrase' if count == 1 else 'phrases'} from {source}"
        return self.save_dictionaries(after, reason, based_on=version), count

    def relabel_phrases(self, rows: Sequence[PhraseRow], new_type: str) -> int:
        """Move these phrases to another type; return the version, the same one if they had it."""
        version = self.dictionary_version()
        changed = relabel_phrases(self.dictionaries_at(version), rows, new_type)
        old_types = {row.entity_type for row in rows}
        source = f" from {old_types.pop()}" if len(old_types) == 1 else ""
        reason = f"Moved {_listed(rows)}{source} to {clean_type(new_type)}"
        return self.save_dictionaries(changed, reason, based_on=version)

    def dictionary_history(self) -> list[DictionaryVersion]:
        """Return all versions, latest first."""
        with self.reading() as db:
            return versions.history(db)

    def dictionaries_at(self, version: int) -> list[Dictionary]:
        """Return the dictionaries as they were in a version."""
        return versions.load(self.folder, version)

    def restore_dictionaries(self, version: int) -> int:
        """Make an earlier version the latest again, as a new one, and return its number."""
        return self.save_dictionaries(self.dictionaries_at(version), f"Restored version {version}")

    def match_preset(self) -> str:
        """Return how freely phrases match, by the preset's name."""
        with self.reading() as db:
            return _match_preset(db)

    def set_match_preset(self, name: str) -> None:
        """Choose how freely phrases match."""
        self.set_choice(store.MATCH_PRESET, _checked_preset(name))

    def labels_key(self, version: int | None = None, preset: str | None = None) -> str:
        """Return a hash of all that decides distant labels: text, dictionaries, preset.

        By default these are the latest dictionaries and the chosen preset.
        """
        with self.reading() as db:
            # The whole content, not the fingerprint: labels name the dictionary they came from.
            content = versions.content_of(db, version).sha256
            parts = (store.fact(db, "text_key"), content, preset or _match_preset(db))
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
        decision = Decision(
            0, kind, document_id, start, end, entity_type, verdict, new_start, new_end, new_type,
            source, queue, surface,
        )  # fmt: skip
        return self.add_decisions([decision])[0]

    def add_decisions(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Store several decisions, all or none ("accept this page"); they get their ids here."""
        with self.writing() as db:
            added = [append_decision(db, decision) for decision in decisions]
            store.touch(db)
        return added

    def undo_decision(self, kind: str, queue: str = "") -> Decision | None:
        """Undo the latest decision of a kind (in one queue, if named) and return it.

        An earlier decision about the same entity is in force again.
        """
        with self.writing() as db:
            return append_undo(db, kind, queue)

    def undo_decisions(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Undo these decisions at once; return those that had not been undone before."""
        with self.writing() as db:
            return append_undos(db, decisions)

    def decisions(self, kind: str) -> list[Decision]:
        """Return the decisions in force: the latest per entity, oldest first."""
        with self.reading() as db:
            return decisions_in_force(db, kind)

    def review_effect(self, documents: Sequence[Document]) -> Review:
        """Return what was accepted and rejected in these documents, checks and review together."""
        return effect([*self.decisions("check"), *self.decisions("review")], documents)


def clean_project_name(name: str) -> str:
    """Return the name on one line, without invisible characters; InputError when it is empty."""
    printable = "".join(c if c.isprintable() else " " for c in name)
    cleaned = " ".join(printable.split())[:_LONGEST_NAME].strip()
    if not cleaned:
        raise InputError("the project has no name. Type one")
    return cleaned


def _listed(rows: Sequence[PhraseRow]) -> str:
    return list_phrases(row.text for row in rows)


def _match_preset(db: sqlite3.Connection) -> str:
    preset = store.choice(db, store.MATCH_PRESET)
    # A project of version 0.1 has no choice stored unless one was made there.
    return preset if isinstance(preset, str) and preset in MATCH_PRESETS else _EARLIER_PRESET


def _checked_preset(name: str) -> str:
    if name not in MATCH_PRESETS:
        raise ValueError(f"match preset must be one of {list(MATCH_PRESETS)}, got {name!r}")
    return name


def _sizes(folder: Path) -> Iterator[int]:
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.startswith(f"{DATABASE}-"):
                continue
            try:
                yield os.lstat(os.path.join(parent, name)).st_size
            except OSError:  # gone since it was listed
                continue
