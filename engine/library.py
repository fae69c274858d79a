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
from engine import health as _health
from engine import labels as _labels
from engine import scoring as _scoring
from engine.dictionaries import Dictionary
from engine.export import (
    EntitySets,
    by_trust,
    default_run,
    methods_with_entities,
    runs_with_entities,
    write_export_card,
)
from engine.export import measure as measure_method
from engine.files import SourceFile, read_source
from engine.guide import Step, project_steps, project_story
from engine.health import Health, HealthEntry
from engine.labels import DistantLabels
from engine.planning import ENCODER_MENU
from engine.projects import (
    Opinion,
    Project,
    encoder_folder,
    knows_language,
    open_project,
)
from engine.projects import download_encoder as _download_encoder
from engine.review import suggestions
from engine.run_folder import dictionary_facts, new_card, read_card, run_facts, text_facts
from engine.scoring import HIDDEN_SHARE, Evaluation
from engine.settings import (
    DEFAULT_MATCH_PRESET,
    DEFAULT_TRAINING_PRESET,
    ENGLISH,
    LANGUAGES,
    LIMITS,
    METHODS,
    NO_LIMITS,
    TRAINING_PRESETS,
    Limits,
    MatchOptions,
    ReadOptions,
    Settings,
    training_settings,
)
from engine.text import (
    Corpus,
    Document,
    EntitiesByDocument,
    InputError,
    detect_language,
    use_language,
    words,
)

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
    *,
    language: str | None = None,
) -> Corpus:
    """Return the documents of one or more files, with the entities that the files carry.

    Sentences end as in their language ("de"), which is detected unless it is given. Files beyond
    the limits are refused; `limits=None` reads whatever the memory holds.
    """
    sources, options = _sources(files, limits), options or ReadOptions()
    given = _known_language(language) or options.language
    corpus = _formats.read_corpus(sources, replace(options, language=given), format)
    if given is None and (detected := _language_of(corpus)) != ENGLISH:
        return _formats.read_corpus(sources, replace(options, language=detected), format)
    return corpus


def read_dictionaries(
    files: Files,
    entity_type: str | None = None,
    limits: Limits | None = LIMITS,
    *,
    never: bool = False,
) -> list[Dictionary]:
    """Return the dictionaries of one or more files; a folder stands for all that are in it.

    `entity_type` is the type of phrases whose file names none. With `never`, all phrases are never
    an entity: add such lists to the dictionaries that you label or train with. Files beyond the
    limits are refused; `limits=None` reads whatever the memory holds.
    """
    given: list[Path | SourceFile] = []
    notes: tuple[str, ...] = ()
    for file in _given(files):
        if isinstance(file, SourceFile):
            given.append(file)
            continue
        paths, more = _dictionaries.dictionary_paths([file], limits or NO_LIMITS)
        given += paths
        notes += more
    entity_type = _dictionaries.NEVER if never else entity_type
    new = _dictionaries.read_dictionaries(_sources(given, limits), ReadOptions(), entity_type)
    if notes:
        new[0] = replace(new[0], notes=(*new[0].notes, *notes))
    return _dictionaries.as_never(new) if never else new


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
    *,
    language: str | None = None,
) -> Health:
    """Return what likely matches wrongly, the most wrong matches first; no gold is needed.

    `mend(dictionaries, health.proposed)` accepts everything that it proposes. `health.kinds` are
    kinds of names ("names that end with “receptor”") that only a person can judge. Everyday words
    are those of the language ("de"), which is detected unless it is given.
    """
    labels = _labels.label(corpus.documents, dictionaries, match)
    use_language(_language_of(corpus, language))
    return _health.check_health(dictionaries, labels, list(corpus.sentences))


def mute(dictionaries: Sequence[Dictionary], phrases: str | Iterable[str]) -> list[Dictionary]:
    """Return the dictionaries with these phrases, in any letter case, matching nothing.

    Abbreviations that the text defines (`labels.adaptation.abbreviations`) can be muted, too.
    """
    texts = [phrases] if isinstance(phrases, str) else list(phrases)
    return _dictionaries.mute_texts(
        dictionaries, texts, lambda text: _labels.is_short_form(words(text))
    )


def mend(
    dictionaries: Sequence[Dictionary], entries: Iterable[HealthEntry], action: str | None = None
) -> list[Dictionary]:
    """Return the dictionaries with these entries of their health mended as they propose.

    `action` ("mute", "as written", "keep") does the same with all of them instead. For kinds of
    names nothing is proposed: `mend(dictionaries, [health.kinds[0]], "mute")` mutes one.
    """
    if action not in (None, _health.MUTE, _health.AS_WRITTEN, _health.KEEP):
        raise ValueError(f'action must be "mute", "as written" or "keep", not {action!r}')
    return _health.mend(dictionaries, entries, action)


def candidates(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    match: str | MatchOptions = DEFAULT_MATCH_PRESET,
) -> pd.DataFrame:
    """Return frequent words that nothing matches and that look like names, the likeliest first.

    Columns: phrase, entity_type (what it looks like), count, documents, capitalized, example. This
    takes seconds and no torch; `suggest` finds more.
    """
    labels = _labels.label(corpus.documents, dictionaries, match)
    use_language(_language_of(corpus))
    return _labels.missing_candidates(labels, list(corpus.sentences))


def suggest(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    *,
    match: str = DEFAULT_MATCH_PRESET,
    preset: str = DEFAULT_TRAINING_PRESET,
    language: str | None = None,
    **changes: Any,
) -> pd.DataFrame:
    """Return likely names that the dictionaries lack, the likest to their matches first.

    One row per name and type: phrase, entity_type, margin, places, documents, confidence, examples.
    No network is trained; `preset` and `changes` are the settings of the features.
    """
    from engine import experiment, learning  # torch takes seconds to import

    settings = _settings(preset, "bilstm", changes)
    use_language(_language_of(corpus, language))
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
    language: str | None = None,
    save_to: str | Path | None = None,
    on_progress: "Callable[[Progress], None] | None" = None,
    **changes: Any,
) -> "Run":
    """Return a tagger trained on the text and the dictionaries alone.

    `changes` are settings that differ from the preset's, such as `epochs=5`. With `save_to` the
    tagger is also written to a folder, from which `load_run` reads it. Everyday words are those of
    the language ("de"), which is detected unless it is given.
    """
    from engine import experiment, runs  # torch takes seconds to import

    settings = _settings(preset, encoder, {"method": method, "seed": seed, **changes})
    use_language(_language_of(corpus, language))
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


def compare_on_hidden_phrases(
    corpus: Corpus,
    dictionaries: Sequence[Dictionary],
    *,
    methods: Sequence[str] = METHODS,
    share: float = HIDDEN_SHARE,
    preset: str = DEFAULT_TRAINING_PRESET,
    encoder: str = "bilstm",
    seed: int = 0,
    match: str = DEFAULT_MATCH_PRESET,
    workers: int = 1,
    on_progress: "Callable[[Progress], None] | None" = None,
    **changes: Any,
) -> pd.DataFrame:
    """Return which method to take, without gold: one row per method, that one first.

    A share of each type's phrases is hidden, each method is trained without them, and the words
    that it finds again are counted. Columns: method, found, words, phrases, is_recommended, and
    epochs, how many to train for (0 if the method's epochs were not counted). This compares methods
    and settings; it says more than you will get on names your dictionary lacks.
    """
    from engine import runs  # torch takes seconds to import

    settings = _settings(preset, encoder, {"seed": seed, **changes})
    with tempfile.TemporaryDirectory() as folder:
        found = runs.compare_hidden(
            corpus.documents,
            dictionaries,
            settings,
            methods,
            Path(folder),
            match=match,
            share=share,
            workers=workers,
            on_progress=on_progress,
        )
    best = _scoring.best_of({name: found[name] for name in sorted(found, key=by_trust)})
    ranked = sorted(found, key=lambda name: (name != best, -found[name].share))
    return pd.DataFrame(
        {
            "method": ranked,
            "found": [sum(found[name].found) for name in ranked],
            "words": [sum(found[name].words) for name in ranked],
            "phrases": [len(found[name].phrases) for name in ranked],
            "is_recommended": [name == best for name in ranked],
            "epochs": [found[name].epochs for name in ranked],
        }
    )


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


def serve(
    run: str | Path,
    *,
    address: str = "localhost",
    port: int = 8600,
    host_names: Sequence[str] = (),
    open: bool = False,
    trust: bool = False,
    most_mb: int | None = None,
) -> None:
    """Answer HTTP requests with the entities that the run in this folder finds, until stopped.

    POST /entities, GET /health and GET /openapi.json, as `glossa serve`. Beyond this machine it
    needs a token in GLOSSA_TOKEN, or `open`. A request may hold `most_mb` megabytes.
    """
    from engine import service

    service.serve(
        Path(run),
        address=address,
        port=port,
        host_names=host_names,
        is_open=open,
        is_trusted=trust,
        most_mb=service.MOST_MB if most_mb is None else most_mb,
    )


def encoders(language: str | None = None) -> pd.DataFrame:
    """Return the transformers that can be chosen by name: `train(…, encoder_name=name)`.

    One row per encoder: name, trained_on, languages, megabytes (0: it comes with Glossa), license,
    needs, is_here; with a language ("de"), also whether the encoder knows it.
    """
    code = _known_language(language)
    rows = [
        {
            "name": encoder.name,
            "trained_on": encoder.field,
            "languages": encoder.languages,
            "megabytes": encoder.megabytes,
            "license": encoder.license,
            "needs": encoder.needs,
            "is_here": not encoder.megabytes or encoder_folder(encoder.name) is not None,
        }
        | ({"knows_language": knows_language(encoder, code)} if code else {})
        for encoder in ENCODER_MENU
    ]
    return pd.DataFrame(rows)


def download_encoder(name: str, on_bytes: Callable[[int, int], None] | None = None) -> Path:
    """Download a transformer of the menu into the data folder, once; return its folder.

    `on_bytes` hears how many bytes are here, and of how many. InputError if there is no network.
    """
    return _download_encoder(name, on_bytes)


def twin(
    tagger: "Run",
    corpus: Corpus,
    *,
    save_to: str | Path | None = None,
    name: str = "",
    on_progress: "Callable[[Progress], None] | None" = None,
) -> "Run":
    """Return a fast twin of a tagger with a transformer: a BiLSTM that learned to predict the same.

    It learns from the texts of the corpus, as many as there are, without labels. With `save_to` it
    is also written to a folder, whose card says that it is the twin of the run `name`.
    """
    from engine import experiment, runs

    made = experiment.make_twin(tagger, corpus.documents, on_progress=on_progress)
    if save_to is not None:
        runs.save_twin(Path(save_to), made, name)
    return made.run


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
    return project_steps(_opened(project))


def advice(project: Project | str) -> str:
    """Return which method of a project's latest run to take, and why; "" if nothing is trained."""
    story = project_story(_opened(project))
    return str(story) if story else ""


def measure(project: Project | str, run: str = "") -> pd.DataFrame:
    """Return precision, recall and F1 of a run's methods, estimated from what a person judged.

    `run` is the id of a training; the latest is the default. One row per method: method, judged,
    to_judge (items left in this round), and precision, recall and f1, each with its 95 % interval
    (precision_low, precision_high, …). They are missing before the first round is judged.
    """
    opened = _opened(project)
    runs = runs_with_entities(opened)
    job = next((job for job in runs if job.id == run), None) if run else default_run(runs)
    if job is None:
        told = f'no run "{run}" that has found entities' if run else "no finished run"
        raise InputError(f"this project has {told}, so there is nothing to judge. Train one")
    sets = EntitySets(opened, opened.corpus())
    rows = []
    for method in methods_with_entities(job):
        known = measure_method(sets, job, method)
        row = {"method": method, "judged": known.answered, "to_judge": len(known.left)}
        for name in ("precision", "recall", "f1"):
            share = getattr(known.scores, name, None)
            row |= {
                name: share.value if share else None,
                f"{name}_low": share.low if share else None,
                f"{name}_high": share.high if share else None,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def add_opinion(project: Project | str, name: str, files: Files) -> list[str]:
    """Keep what another system or a person found in a project, under a name; return notes.

    The files hold entities with offsets in the project's documents. They become a lane in Compare
    and Review; an opinion of this name is replaced.
    """
    return _opened(project).add_opinion(name, _sources(files, LIMITS))


def opinions(project: Project | str) -> list[Opinion]:
    """Return what other systems and people found in a project: names and counts."""
    return _opened(project).opinions()


def label_with_opinion(project: Project | str, name: str, priority: int = 0) -> int:
    """Let an opinion label the text where it has entities, beside the dictionaries.

    Returns the new version of the dictionaries. Where matches of the same length overlap, the
    higher priority wins.
    """
    return _opened(project).label_with_opinion(name, priority)


def remove_opinion(project: Project | str, name: str) -> None:
    """Remove an opinion from a project."""
    _opened(project).remove_opinion(name)


def _opened(project: Project | str) -> Project:
    return open_project(project) if isinstance(project, str) else project


def _language_of(corpus: Corpus, given: str | None = None) -> str:
    return _known_language(given) or detect_language(d.text for d in corpus.documents)


def _known_language(code: str | None) -> str | None:
    if code is not None and code not in LANGUAGES:
        raise InputError(f'"{code}" is not a language; choose one of {", ".join(LANGUAGES)}')
    return code


def _settings(preset: str, encoder: str, changes: Mapping[str, Any]) -> Settings:
    if preset not in TRAINING_PRESETS:
        raise InputError(f'"{preset}" is not a preset; choose one of {", ".join(TRAINING_PRESETS)}')
    if folder := encoder_folder(str(changes.get("encoder_name", ""))):  # downloaded before
        changes = {**changes, "encoder_name": str(folder)}
    try:
        return replace(training_settings(preset, encoder), **changes)
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def _sources(files: Files, limits: Limits | None) -> list[SourceFile]:
    allowed = limits or NO_LIMITS
    return [
        replace(file, limits=allowed)
        if isinstance(file, SourceFile)
        else read_source(file, allowed)
        for file in _given(files)
    ]


def _given(files: Files) -> list[str | Path | SourceFile]:
    return [files] if isinstance(files, str | Path | SourceFile) else list(files)
