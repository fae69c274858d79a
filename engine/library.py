"""The library: text and a dictionary become a trained tagger in a few calls.

These functions take file paths and plain values, and call the packages below. `import glossa`
offers them. Whatever learns needs torch, which is imported by the first call that learns.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from engine import dictionaries as _dictionaries
from engine import formats as _formats
from engine import labels as _labels
from engine import scoring as _scoring
from engine.dictionaries import Dictionary
from engine.export import dictionary_facts, new_card, run_facts, text_facts, write_export_card
from engine.files import SourceFile, read_source
from engine.guide import Step, project_steps
from engine.labels import DistantLabels, Health, HealthEntry
from engine.projects import Project, open_project
from engine.review import suggestions
from engine.run_folder import read_card
from engine.scoring import Evaluation
from engine.settings import (
    DEFAULT_MATCH_PRESET,
    DEFAULT_TRAINING_PRESET,
    LIMITS,
    NO_LIMITS,
    TRAINING_PRESETS,
    Limits,
    MatchOptions,
    ReadOptions,
    Settings,
    training_settings,
)
from engine.text import Corpus, Document, EntitiesByDocument, InputError

if TYPE_CHECKING:
    from engine.experiment import Run
    from engine.learning import Progress
    from engine.portable import OnnxTagger

Files = str | Path | SourceFile | Iterable[str | Path | SourceFile]


def read_corpus(
    files: Files,
    options: ReadOptions | None = None,
    format: str | None = None,
    limits: Limits | None = LIMITS,
) -> Corpus:
    """Return the documents of one or more files, with the entities that the files carry.

    Files beyond the limits are refused; `limits=None` reads whatever the memory holds.
    """
    return _formats.read_corpus(_sources(files, limits), options, format)


def read_dictionaries(
    files: Files, entity_type: str | None = None, limits: Limits | None = LIMITS
) -> list[Dictionary]:
    """Return the dictionaries of one or more files.

    `entity_type` is the type of phrases whose file names none. Files beyond the limits are refused;
    `limits=None` reads whatever the memory holds.
    """
    return _dictionaries.read_dictionaries(_sources(files, limits), ReadOptions(), entity_type)


def label(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    match: str | MatchOptions = DEFAULT_MATCH_PRESET,
) -> DistantLabels:
    """Return the distant labels of the corpus; `match` is a preset or options of your own."""
    return _labels.label(corpus.documents, dictionaries, match)


def labeled(corpus: Corpus, labels: DistantLabels) -> Corpus:
    """Return the corpus with the labels as its entities, ready to be written."""
    entities = _labels.dictionary_entities(labels, corpus.documents)
    return replace(corpus, entities=dict(entities))


def health(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    match: str | MatchOptions = DEFAULT_MATCH_PRESET,
) -> Health:
    """Return what likely matches wrongly, the most wrong matches first; no gold is needed.

    `mend(dictionaries, health.proposed)` accepts everything that it proposes.
    """
    labels = _labels.label(corpus.documents, dictionaries, match)
    return _labels.check_health(dictionaries, labels, list(corpus.sentences))


def mend(dictionaries: Sequence[Dictionary], entries: Iterable[HealthEntry]) -> list[Dictionary]:
    """Return the dictionaries with these entries of their health mended as they propose."""
    return _labels.mend(dictionaries, entries)


def suggest(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    *,
    match: str = DEFAULT_MATCH_PRESET,
    preset: str = DEFAULT_TRAINING_PRESET,
    **changes: Any,
) -> pd.DataFrame:
    """Return likely names that the dictionaries lack, the most convincing first.

    One row per name and type: phrase, entity_type, margin, places, documents, confidence, examples.
    No network is trained; `preset` and `changes` are the settings of the features.
    """
    from engine import experiment, learning  # torch takes seconds to import

    settings = _settings(preset, "bilstm", changes)
    with tempfile.TemporaryDirectory() as cache:  # the text is encoded once
        prepared = experiment.prepare(
            corpus.documents, dictionaries, match=match, settings=settings, cache=Path(cache)
        )
        likely = learning.find_likely_tokens(prepared.data, prepared.priors.values, settings)
    return suggestions(corpus.documents, likely, dictionaries, prepared.labels, match)


def train(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    *,
    method: str = "conf_mpu",
    preset: str = DEFAULT_TRAINING_PRESET,
    encoder: str = "bilstm",
    seed: int = 0,
    match: str = DEFAULT_MATCH_PRESET,
    save_to: str | Path | None = None,
    on_progress: "Callable[[Progress], None] | None" = None,
    **changes: Any,
) -> "Run":
    """Return a tagger trained on the text and the dictionaries alone.

    `changes` are settings that differ from the preset's, such as `epochs=5`. With `save_to` the
    tagger is also written to a folder, from which `load_run` reads it.
    """
    from engine import experiment, runs  # torch takes seconds to import

    settings = _settings(preset, encoder, {"method": method, "seed": seed, **changes})
    with tempfile.TemporaryDirectory() as cache:  # the text is encoded once
        prepared = experiment.prepare(
            corpus.documents, dictionaries, match=match, settings=settings, cache=Path(cache)
        )
        data, priors = prepared.data, prepared.priors.values
        trained = experiment.run(data, priors, settings, on_progress=on_progress)
    if save_to is not None:
        folder = Path(save_to)
        folder.mkdir(parents=True, exist_ok=True)
        runs.save_run(folder, trained, data=data, dictionaries=dictionaries)
    return trained


def load_run(folder: str | Path, *, trust: bool = False) -> "Run":
    """Return a tagger that `train` or the app has saved.

    A run that came with an imported project uses word vectors and encoders outside its folder only
    with `trust`.
    """
    from engine import runs

    return runs.load_run(Path(folder), is_trusted=trust)


def predict(tagger: "Run | OnnxTagger", corpus: Corpus) -> Corpus:
    """Return the corpus with the entities that the tagger finds in it."""
    from engine import experiment

    if isinstance(tagger, experiment.Run):
        return replace(corpus, entities=experiment.predict(tagger, corpus.documents))
    return replace(corpus, entities=tagger.predict(corpus.documents))


def export_model(
    run: str | Path, to: str, out: str | Path, *, trust: bool = False
) -> Sequence[str]:
    """Write the run in the folder `run` to the new folder `out`; return notes on what differs.

    `to` is "spacy" (for `spacy.load`), "transformers" (for `pipeline("token-classification")`; a
    fine-tuned transformer only) or "onnx".
    """
    from engine import portable

    return portable.export_model(Path(run), to, Path(out), is_trusted=trust)


def load_onnx(folder: str | Path) -> "OnnxTagger":
    """Return a tagger that `export_model` wrote as ONNX; `predict` takes it like any other."""
    from engine import portable

    return portable.OnnxTagger(Path(folder))


def evaluate(
    documents: Sequence[Document], gold: EntitiesByDocument, predicted: EntitiesByDocument
) -> Evaluation:
    """Return precision, recall and F1 of predicted entities against gold."""
    return _scoring.evaluate_documents(documents, gold, predicted)


def write_corpus(
    corpus: Corpus,
    path: str | Path,
    format: str | None = None,
    *,
    made_by: "Run | str | Path | Sequence[Dictionary] | None" = None,
) -> int:
    """Write the entities of the corpus to a file and return the number of rows.

    The format follows from the name of the file unless one is named. `made_by` is what found the
    entities (a tagger, the folder of a run, or dictionaries): a card beside the file then says so.
    """
    rows = _formats.write_corpus(corpus, path, format).rows
    if made_by is not None:
        card = new_card("written from Python", **_origin(made_by), text=text_facts(corpus))
        write_export_card(path, card, _formats.writable_format(path, format).name)
    return rows


def _origin(made_by: "Run | str | Path | Sequence[Dictionary]") -> dict[str, Any]:
    if isinstance(made_by, str | Path):
        return {"run": run_facts(read_card(Path(made_by)))}
    if isinstance(made_by, list | tuple):
        return {"dictionaries": dictionary_facts(made_by)}
    trained = cast("Run", made_by)
    settings = trained.settings
    facts = {"method": settings.method, "types": list(trained.types), "settings": asdict(settings)}
    return {"run": facts}


def next_steps(project: Project | str) -> tuple[Step, ...]:
    """Return the checklist of a project of the app, given as it is or by its id.

    The step whose state is "next" is the one that helps most.
    """
    return project_steps(open_project(project) if isinstance(project, str) else project)


def _settings(preset: str, encoder: str, changes: Mapping[str, Any]) -> Settings:
    if preset not in TRAINING_PRESETS:
        raise InputError(f'"{preset}" is not a preset; choose one of {", ".join(TRAINING_PRESETS)}')
    try:
        return replace(training_settings(preset, encoder), **changes)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def _sources(files: Files, limits: Limits | None) -> list[SourceFile]:
    given = [files] if isinstance(files, str | Path | SourceFile) else list(files)
    allowed = limits or NO_LIMITS
    return [
        replace(file, limits=allowed)
        if isinstance(file, SourceFile)
        else read_source(file, allowed)
        for file in given
    ]
