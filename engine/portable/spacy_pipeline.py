"""A spaCy pipeline around a run: our tokenizer and a component that finds its entities.

`spacy.load(folder)` finds both by the entry points of the package glossa. The folder holds the run.
The entities are those of `glossa predict`; in a pipeline with another tokenizer they are widened to
its tokens.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans, registry

from engine.experiment import Run, predict
from engine.formats import make_doc
from engine.run_folder import EXPORTED_PREDICTIONS, PREDICTIONS, is_checkpoint
from engine.runs import load_run
from engine.text import Entity, make_document

FACTORY = "glossa"
TOKENIZER = "glossa.Tokenizer.v1"
SPANS = "glossa"  # the group of spans that has the scores
_RUN = "run"
_AT_ONCE = 64


def write_pipeline(run_folder: Path, out: Path, *, is_trusted: bool = False) -> list[str]:
    """Write the folder for `spacy.load`."""
    config = {"nlp": {"tokenizer": {"@tokenizers": TOKENIZER}}}
    nlp = spacy.blank("xx", config=config)
    component = nlp.add_pipe(FACTORY)
    assert isinstance(component, GlossaComponent)
    component.use(run_folder, is_trusted=is_trusted)
    nlp.meta.update(name="glossa_tagger", description="A tagger trained by Glossa")
    nlp.to_disk(out)
    return ["needs the package glossa[train] beside spaCy"]


class GlossaTokenizer:
    """Glossa's tokens and sentences as a tokenizer of spaCy."""

    def __init__(self, vocab: Any) -> None:
        self.vocab = vocab

    def __call__(self, text: str) -> Doc:
        doc, _ = make_doc(self.vocab, make_document("", text), text, None)
        assert isinstance(doc, Doc)
        return doc

    # It has nothing to keep, but spaCy asks.

    def to_disk(self, path: Any, **_: Any) -> None:
        """Keep nothing."""

    def from_disk(self, path: Any, **_: Any) -> "GlossaTokenizer":
        """Return itself."""
        return self

    def to_bytes(self, **_: Any) -> bytes:
        """Return nothing."""
        return b""

    def from_bytes(self, data: bytes, **_: Any) -> "GlossaTokenizer":
        """Return itself."""
        return self


class GlossaComponent:
    """Sets `doc.ents` to the entities that a run finds, and keeps them with scores in a group."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._trained: Run | None = None

    def use(self, run_folder: Path, *, is_trusted: bool = False) -> None:
        """Find entities with the run in this folder."""
        self._folder, self._trained = run_folder, load_run(run_folder, is_trusted=is_trusted)

    def __call__(self, doc: Doc) -> Doc:
        [given] = self.pipe([doc])
        return given

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = _AT_ONCE) -> Iterator[Doc]:
        """Yield the docs with their entities, some at a time."""
        if self._trained is None:
            raise ValueError("this component has no run; load it with spacy.load, or call use()")
        docs = iter(stream)
        while group := list(islice(docs, batch_size)):
            documents = [make_document(str(i), doc.text) for i, doc in enumerate(group)]
            entities = predict(self._trained, documents)
            for i, doc in enumerate(group):
                _mark(doc, entities[str(i)])
                yield doc

    def to_disk(self, path: Path, **_: Any) -> None:
        """Copy the run into the folder of the pipeline."""
        if self._folder is not None:
            shutil.copytree(self._folder, Path(path) / _RUN, ignore=_left_out)

    def from_disk(self, path: Path, **_: Any) -> "GlossaComponent":
        """Load the run from the folder of the pipeline."""
        self.use(Path(path) / _RUN)
        return self


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What predicting does not need: checkpoints, and what was found in the training text."""
    found = {PREDICTIONS, EXPORTED_PREDICTIONS}
    return {n for n in names if n in found or n.startswith(".") or is_checkpoint(Path(n))}


def _mark(doc: Doc, entities: Iterable[Entity]) -> None:
    spans, scores = [], []
    for entity in entities:
        span = doc.char_span(
            entity.start, entity.end, label=entity.entity_type, alignment_mode="expand"
        )
        if span is not None:
            spans.append(span)
            scores.append(entity.score)
    doc.set_ents(filter_spans(spans))
    doc.spans[SPANS] = spans
    doc.spans[SPANS].attrs["scores"] = scores


@Language.factory(FACTORY, assigns=["doc.ents"])
def make_component(nlp: Language, name: str) -> GlossaComponent:
    """Return a component without a run; the folder of a pipeline brings one."""
    return GlossaComponent()


@registry.tokenizers(TOKENIZER)  # type: ignore[untyped-decorator]
def make_tokenizer() -> Callable[[Language], GlossaTokenizer]:
    """Return what spaCy calls to make the tokenizer of a pipeline."""

    def create(nlp: Language) -> GlossaTokenizer:
        return GlossaTokenizer(nlp.vocab)

    return create
