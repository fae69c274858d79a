"""What the app remembers: the person's choices, and results kept by the content they came from.

Results are cached as resources, shared by all visitors and never copied: a corpus is too large to
copy at every click. They are frozen, and no view changes a table in place.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

import engine
from engine.alignment import Aligned
from engine.checking import Decisions
from engine.coverage import Coverage

SAMPLE = Path(__file__).resolve().parent.parent / "sample_data"
_NOISY = ("phrase", "estimated_false", "flags")
_KEPT = 4  # results of each kind; more would fill the memory of a small machine


# ---- what goes in ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Files:
    """Files by name, one hash of their names and bytes, and how to get the bytes when needed."""

    paths: tuple[str, ...] = ()  # as a command line would name them
    key: str = ""
    load: Callable[[], list[engine.SourceFile]] = list


@dataclass(frozen=True, slots=True)
class Sources:
    """All that a person chose: files, and how to read and match them."""

    text: Files
    dictionaries: Files
    gold: Files
    lines_are_documents: bool = False
    entity_type: str = ""  # of phrases that name none
    preset: str = "balanced"

    @property
    def text_key(self) -> tuple[str, bool]:
        return (self.text.key, self.lines_are_documents)

    @property
    def labels_key(self) -> tuple[object, ...]:
        return (*self.text_key, self.dictionaries.key, self.entity_type, self.preset)


@st.cache_resource
def sample_sources() -> Sources:
    """Return the sample project that ships with the app."""
    dictionaries = sorted((SAMPLE / "dictionary").glob("*.txt"))
    return Sources(
        _on_disk([SAMPLE / "train.jsonl"]), _on_disk(dictionaries), _on_disk([SAMPLE / "gold.csv"])
    )


def _on_disk(paths: Sequence[Path]) -> Files:
    files = [engine.read_source(path) for path in paths]
    shown = tuple(path.relative_to(SAMPLE.parent).as_posix() for path in paths)
    return Files(shown, _hash(_hash((f.name.encode(), f.data)) for f in files), lambda: files)


def uploaded(uploads: Sequence[UploadedFile]) -> Files:
    """Return uploads as files; the bytes of each are hashed once, not at every click."""
    hashes: dict[str, str] = st.session_state.setdefault("upload_hashes", {})
    for upload in uploads:
        if upload.file_id not in hashes:
            hashes[upload.file_id] = _hash((upload.name.encode(), upload.getbuffer()))
    return Files(
        tuple(upload.name for upload in uploads),
        _hash(hashes[upload.file_id] for upload in uploads) if uploads else "",
        lambda: [engine.SourceFile(upload.name, upload.getvalue()) for upload in uploads],
    )


def _hash(parts: Iterable[bytes | memoryview | str]) -> str:
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


# ---- what the person chose on the page ------------------------------------------------------


def muted_key(sources: Sources) -> str:
    """Return the key of the muted phrases; other dictionaries begin with none."""
    return f"labels_muted_{sources.dictionaries.key[:12]}"


def muted(sources: Sources) -> tuple[str, ...]:
    """Return the phrases that were muted, before their widget is drawn further down."""
    return tuple(sorted(st.session_state.get(muted_key(sources), ())))


# ---- what comes out -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Project:
    """The files, read."""

    corpus: engine.Corpus
    sentences: tuple[engine.Sentence, ...]
    dictionaries: tuple[engine.Dictionary, ...]

    @property
    def notes(self) -> list[str]:
        of_dictionaries = (f"{d.name}: {note}" for d in self.dictionaries for note in d.notes)
        return [*self.corpus.notes, *of_dictionaries]


@dataclass(frozen=True, slots=True)
class Preview:
    """Distant labels and the engine's tables about them."""

    labels: engine.DistantLabels
    spans: list[list[engine.Span]]
    coverage: Coverage
    along: pd.DataFrame
    by_dictionary: pd.DataFrame  # dictionary, entity_type, phrases, matches
    conflicts: pd.DataFrame
    noisy: pd.DataFrame
    evaluation: engine.Evaluation | None  # None without gold


def read_project(sources: Sources) -> Project:
    """Return the texts and dictionaries, read; InputError says which file cannot be."""
    return Project(
        *_read_text(sources.text_key, sources),
        _read_dictionaries((sources.dictionaries.key, sources.entity_type), sources),
    )


def read_gold(sources: Sources, project: Project) -> Aligned | None:
    """Return gold from its own file, else what the text files carry, else none."""
    if sources.gold.key:
        return _read_gold((*sources.text_key, sources.gold.key), sources, project)
    carried = engine.gold_of(project.corpus).entities
    return Aligned(carried) if carried else None


def make_preview(sources: Sources, project: Project, gold: Aligned | None) -> Preview:
    """Return the distant labels without the muted phrases, and the tables about them."""
    key = (*sources.labels_key, sources.gold.key, gold is not None, *muted(sources))
    return _make_preview(key, sources, project, gold)


def missing(sources: Sources, project: Project) -> pd.DataFrame:
    """Return what may be missing from the dictionaries; a muted phrase is not missing."""
    return _missing(sources.labels_key, sources, project)


def entities_csv(project: Project, preview: Preview) -> bytes:
    """Return the distant labels as a file with one row an entity."""
    documents = project.corpus.documents
    entities = engine.dictionary_entities(preview.labels, documents)
    out = BytesIO()
    write = engine.FORMATS["entities"].write
    assert write is not None
    write(engine.Corpus(documents, entities), out, engine.WriteOptions())
    return out.getvalue()


# Streamlit leaves out of the cache key what begins with an underscore.


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the text")
def _read_text(
    key: tuple[object, ...], _sources: Sources
) -> tuple[engine.Corpus, tuple[engine.Sentence, ...]]:
    corpus = engine.read_corpus(_sources.text.load(), _read_options(_sources))
    return corpus, tuple(corpus.sentences)


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the dictionaries")
def _read_dictionaries(key: tuple[object, ...], _sources: Sources) -> tuple[engine.Dictionary, ...]:
    files = _sources.dictionaries.load()
    return tuple(engine.read_dictionaries(files, entity_type=_sources.entity_type or None))


@st.cache_resource(max_entries=_KEPT, show_spinner="Reading the gold")
def _read_gold(key: tuple[object, ...], _sources: Sources, _project: Project) -> Aligned:
    gold = engine.read_corpus(_sources.gold.load(), _read_options(_sources))
    return engine.align(_project.corpus.documents, engine.gold_of(gold))


@st.cache_resource(max_entries=2 * _KEPT, show_spinner="Matching")
def _make_preview(
    key: tuple[object, ...], _sources: Sources, _project: Project, _gold: Aligned | None
) -> Preview:
    documents, sentences = _project.corpus.documents, _project.sentences
    silent = {phrase.casefold() for phrase in muted(_sources)}
    dictionaries = [_without(dictionary, silent) for dictionary in _project.dictionaries]
    labels = engine.label(documents, dictionaries, _sources.preset)
    matches = engine.kept_matches(labels, sentences)
    gold = _gold.entities if _gold else {}
    found = engine.dictionary_entities(labels, documents)
    return Preview(
        labels,
        labels.spans(),
        engine.measure_coverage(labels),
        engine.coverage_along(labels),
        _by_dictionary(labels, matches),
        engine.conflicts(labels, sentences),
        _noisy(matches, engine.decisions_from_gold(matches, gold)),
        engine.evaluate_documents(documents, gold, found) if gold else None,
    )


@st.cache_resource(max_entries=_KEPT, show_spinner="Looking for what is missing")
def _missing(key: tuple[object, ...], _sources: Sources, _project: Project) -> pd.DataFrame:
    labels = engine.label(_project.corpus.documents, _project.dictionaries, _sources.preset)
    return engine.missing_candidates(labels, _project.sentences)


def _read_options(sources: Sources) -> engine.ReadOptions:
    return engine.ReadOptions(lines_are_documents=sources.lines_are_documents)


def _without(dictionary: engine.Dictionary, silent: set[str]) -> engine.Dictionary:
    """Mute phrases under every type and in any case, as `--mute` does."""
    pairs = ((p.text, p.entity_type) for p in dictionary.phrases if p.text.casefold() in silent)
    return engine.mute(dictionary, pairs) if silent else dictionary


def _noisy(matches: pd.DataFrame, decisions: Decisions) -> pd.DataFrame:
    """Without a match the engine's table has no columns; a page needs them all the same."""
    table = engine.noisy_phrases(matches, decisions)
    return table if len(table) else pd.DataFrame(columns=list(_NOISY))


def _by_dictionary(labels: engine.DistantLabels, matches: pd.DataFrame) -> pd.DataFrame:
    """Each match counts once, for the dictionary that it is credited to."""
    groups = ["dictionary", "entity_type"]
    counts = {
        "phrases": labels.phrases.groupby(groups).size(),
        "matches": matches.groupby(groups).size(),
    }
    return pd.DataFrame(counts).fillna(0).astype(int).reset_index()
