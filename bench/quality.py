"""Measure how good a trained method is: the paper's Tables 2, 4 and 6 and its Figure 2.

A method is trained on a setting's train file, with the published distant labels (third column), and
its last epoch is scored on valid.txt and on every file of --score: strict spans, maximal runs of
one class. Gold (second column) is used only to score, with two exceptions that the output names:
the method `supervised`, and `--priors true`.

  track clean   lexicon bits from the setting's own dictionary, priors estimated: what a user has
  track paper   the paper's inputs: lexicon bits from paper_lexicon/, its own list, which holds the
                test answers; priors as in its authors' code
  --lexicon     overrides the track's lexicon (the paper's Table 4 has none)
  --priors      overrides the track's priors
  --match       labels of our own matcher under this preset instead of the published ones; the
                lexicon bits of the setting's dictionary then follow the same preset

Settings start from a preset, and --set changes any of them. The clean track uses "balanced", the
default of the app. The paper track uses "paper", with the paper's gamma for each data set, at a
faster pace (a quarter of its epochs, a higher learning rate; --pace paper is the paper's own).
--epochs is for both steps of Conf-MPU unless --confidence-epochs says otherwise. The table gives
the mean over seeds and the standard deviation. The curve (--curve-every) is only shown: nothing is
chosen by it.

    python -m bench.quality bc5cdr_big --track clean --method conf_mpu --encoder bilstm
                            [--epochs N] [--confidence-epochs N] [--seeds 1,2,3]
                            [--preset quick|balanced|paper] [--pace fast|paper]
                            [--set name=value ...] [--lexicon none|dictionary|paper]
                            [--priors estimated|true|paper|authors] [--score FILE ...]
                            [--match strict|adaptive|balanced|loose] [--curve-every N]
                            [--confidence-file FILE] [--twin] [--threads N] [--data DIR]

Runs that differ only after the confidence step (gamma, epochs) can share it: the first run writes
--confidence-file and the others read it; they refuse a file of other data or settings.

--twin also scores two fast twins of each run, which learned what it predicts: one on the train
text, one on the train text and the texts that are scored. Neither sees labels.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from bench import environment
from bench.data import SETTINGS, add_data_option, dictionaries, load
from bench.noise import spoil
from bench.priors import AUTHORS, PAPER
from engine.cli import make_settings
from engine.dictionaries import Dictionary, read_dictionary
from engine.experiment import Run, decode, make_twin, predict, prepare, run, run_supervised, score
from engine.files import read_source, written_whole
from engine.formats import read_columns
from engine.labels import DistantLabels, dictionary_entities, label
from engine.learning import (
    Confidence,
    Progress,
    TrainingData,
    epoch_line,
    fit,
    make_inputs,
    make_tagger,
    matching_odds,
    schedule,
    tokens_of,
    weigh,
)
from engine.network import choose_device, predict_probabilities, set_threads
from engine.planning import METHODS, TRAINING, Priors, true_priors
from engine.runs import data_fingerprint
from engine.scoring import NONE, Scores, score_confidence
from engine.settings import ENCODERS, MATCH_PRESETS, TRAINING_PRESETS, Settings, training_settings
from engine.text import (
    Document,
    EntitiesByDocument,
    Entity,
    InputError,
    classes_from_spans,
    entities_from_spans,
    make_tokenized_document,
    spans_from_tags,
)

DICTIONARY = "dictionary"
LEXICONS = ("none", "dictionary", "paper")
# A quarter of the paper's epochs is enough at three times its learning rate (five times in the
# confidence step): F1 is flat by then. The transformer keeps the paper's pace. Whatever the epochs,
# the rate falls to the same share of itself as in the paper's 100 (see `settings_of`).
PACES: dict[str, dict[str, float]] = {
    "bilstm": {
        "epochs": 24,
        "confidence_epochs": 24,
        "learning_rate": 1.5e-3,
        "confidence_learning_rate": 5e-4,
    },
    "transformer": {},
}
PUBLISHED_PRIORS = {"paper": PAPER, "authors": AUTHORS}
PRIOR_SOURCES = ("estimated", "true", *PUBLISHED_PRIORS)
TRACK_PRIORS = {"clean": "estimated", "paper": "authors"}
TRACK_PRESETS = {"clean": "balanced", "paper": "paper"}
PRIOR_SEED = 0
ALL = "all types"
# A curve needs one tagger, and a checkpoint of it.
CURVE_METHODS = tuple(
    method.name
    for method in METHODS.values()
    if not (method.has_tagger_per_type or method.needs_gold)
)


@dataclass(frozen=True, slots=True)
class Family:
    """What the paper sets for each data set."""

    entity_weight: float  # gamma
    confidence_weight: float  # gamma of the confidence step
    paper_lexicon: str  # folder in the data folder
    priors: str  # the setting whose priors the paper prints: the others "do not differ much"


FAMILIES = {
    "bc5cdr": Family(28, 10, "bc5cdr/paper_lexicon", "bc5cdr_big"),
    "conll": Family(15, 15, "conll2003_dict/paper_lexicon", "conll_dict"),
}


def family_of(setting: str) -> Family:
    """Return what the paper set for the setting's data set."""
    return FAMILIES[setting.partition("_")[0]]


# ---- what a method is trained with ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gold:
    """A file to score on."""

    document: Document
    entities: dict[str, tuple[Entity, ...]]  # by document id

    @property
    def name(self) -> str:
        return self.document.id


def read_gold(path: Path) -> Gold:
    """Return the tokens and the gold entities of a file in the benchmark's columns."""
    sentences, tags, _ = read_columns(read_source(path))
    document = make_tokenized_document(path.name, sentences)
    entities = [
        entity
        for sentence, of_tokens in zip(document.sentences, tags, strict=True)
        for entity in entities_from_spans(sentence, spans_from_tags(of_tokens), "gold")
    ]
    return Gold(document, {document.id: tuple(entities)})


def gold_classes(tags: Sequence[Sequence[str]], types: Sequence[str]) -> np.ndarray:
    """Return the gold class of every token, sentences end to end."""
    return np.concatenate(
        [classes_from_spans(spans_from_tags(row), len(row), types) for row in tags]
    ).astype(np.int16)


def choose_lexicon(options: argparse.Namespace) -> tuple[str, list[str]]:
    """Return where lexicon bits come from, and notes about it."""
    if options.method == DICTIONARY:
        return "none", []
    if options.encoder == "transformer":
        if options.lexicon not in (None, "none"):
            raise InputError("a transformer sees sub-words alone: --lexicon is for the BiLSTM")
        return "none", ["lexicon: none, a transformer sees sub-words alone"]
    chosen = options.lexicon or {"clean": "dictionary", "paper": "paper"}[options.track]
    if chosen == "paper" and options.track == "clean":
        raise InputError("the paper's lexicon holds test answers: use it with --track paper")
    if chosen == "dictionary" and not SETTINGS[options.setting].dictionary:
        if options.lexicon:
            raise InputError(f"{options.setting} has no dictionary: --lexicon none or paper")
        return "none", [f"lexicon: none, {options.setting} has no dictionary of its own"]
    return chosen, []


def read_lexicon(source: str, options: argparse.Namespace) -> list[Dictionary]:
    """Return the phrases that lexicon bits are looked up in."""
    setting, data_folder = options.setting, options.data
    if source == "none":
        return []
    if source == "dictionary":
        clean = dictionaries(setting, data_folder)
        if not options.noise:
            return clean
        return spoil(clean, load(setting, data_folder)[0], options.noise)
    folder = data_folder / family_of(setting).paper_lexicon
    return [
        read_dictionary(read_source(folder / f"{name}.txt")) for name in SETTINGS[setting].types
    ]


def published_labels(
    document: Document, published: Sequence[Sequence[int]], types: tuple[str, ...]
) -> DistantLabels:
    """Return the labels of the train file's third column, as if a dictionary had made them."""
    labels = np.concatenate([np.array(classes, np.int16) for classes in published])
    return replace(label([document], [], "strict"), types=types, labels=labels)


def make_labels(
    options: argparse.Namespace, document: Document, published: Sequence[Sequence[int]]
) -> tuple[DistantLabels, list[str]]:
    """Return the labels of --match, or the published ones, and notes about them."""
    types = SETTINGS[options.setting].types
    if not options.match:
        return published_labels(document, published, types), []
    phrases = read_lexicon("dictionary", options)
    if not phrases:
        note = f"labels: published, {options.setting} has no dictionary for --match"
        return published_labels(document, published, types), [note]
    labels = label([document], phrases, options.match)
    note = f"labels: our matcher, {options.match}"
    if labels.adaptation:
        free = ", ".join(sorted(labels.folding)) or "none"
        count = len(labels.adaptation.abbreviations)
        note += f"; types that ignore letter case: {free}; abbreviations: {count}"
    return labels, [note]


def choose_priors(
    options: argparse.Namespace, labels: DistantLabels, gold: np.ndarray
) -> Priors | dict[str, float] | None:
    """Return the priors that were asked for; None = to be estimated."""
    if METHODS[options.method].needs_gold:
        return true_priors(gold, labels.types)
    if options.priors == "estimated":
        return None
    if options.priors == "true":
        return true_priors(gold, labels.types, labels=labels.labels)
    values = PUBLISHED_PRIORS[options.priors][family_of(options.setting).priors]
    return dict(zip(SETTINGS[options.setting].types, values, strict=True))


def settings_of(options: argparse.Namespace, seed: int) -> Settings:
    """Return the preset's settings with what the command line changes in them."""
    epochs = {"epochs": options.epochs, "confidence_epochs": options.epochs}
    changes = epochs if options.epochs else {}
    if options.preset == "paper":
        changes = paper_changes(options, changes)
    if options.confidence_epochs:
        changes = changes | {"confidence_epochs": options.confidence_epochs}
    assignments = [
        *(f"{name}={value}" for name, value in changes.items()),
        *options.set,
        f"method={options.method}",
        f"encoder={options.encoder}",
    ]
    return make_settings(
        argparse.Namespace(
            preset=options.preset, encoder=options.encoder, seed=seed, set=assignments
        )
    )


def paper_changes(options: argparse.Namespace, changes: dict[str, float]) -> dict[str, float]:
    """Return what the paper set for the data set, at the pace asked for, and `changes`."""
    family = family_of(options.setting)
    gamma = {
        "entity_weight": family.entity_weight,
        "confidence_weight": family.confidence_weight,
    }
    if options.pace == "paper":
        return gamma | changes
    pace = PACES[options.encoder] | changes
    if options.encoder == "bilstm":
        whole = training_settings("paper")
        falls = whole.learning_rate_decay * whole.epochs / pace["epochs"]
        pace["learning_rate_decay"] = round(falls, 3)
    return gamma | pace


# ---- scores ---------------------------------------------------------------------------------


def score_file(gold: Gold, entities: EntitiesByDocument, types: Sequence[str]) -> dict[str, dict]:
    """Return the strict span scores of each type and of all."""
    evaluation = score([gold.document], gold.entities, entities)
    by_type = {name: record(evaluation.by_type.get(name, NONE)) for name in types}
    return by_type | {ALL: record(evaluation.overall)}


def record(scores: Scores) -> dict[str, float]:
    """Return precision, recall and F1 in percent, and the counts behind them."""
    return {
        "precision": round(100 * (scores.precision or 0), 2),
        "recall": round(100 * (scores.recall or 0), 2),
        "f1": round(100 * (scores.f1 or 0), 2),
        "correct": scores.correct,
        "predicted": scores.predicted,
        "gold": scores.support,
    }


def summarize(rows: Sequence[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation, least and most of the scores of several seeds."""
    summary = {}
    for name in ("precision", "recall", "f1"):
        values = np.array([row[name] for row in rows])
        summary[name] = {
            "mean": round(float(values.mean()), 2),
            "deviation": round(float(values.std(ddof=1)), 2) if len(values) > 1 else 0.0,
            "least": float(values.min()),
            "most": float(values.max()),
        }
    return summary


# ---- the curve ------------------------------------------------------------------------------


class Curve:
    """F1 on a file every few epochs, from the checkpoint that stands before an epoch is reported.

    `fit` with a schedule that the checkpoint has finished trains nothing and restores the tagger,
    so a second tagger is scored and the one in training is not touched.
    """

    def __init__(
        self,
        every: int,
        checkpoint: Path,
        gold: Gold,
        data: TrainingData,
        priors: Priors,
        settings: Settings,
    ) -> None:
        self.points: list[dict[str, float]] = []
        self.seconds = 0.0  # spent on the curve, not on training
        self._every, self._checkpoint, self._gold = every, checkpoint, gold
        self._data, self._priors, self._settings = data, priors, settings
        self._device = choose_device()
        self._inputs = self._inputs_of(tokens_of([gold.document]))
        self._train_inputs = self._inputs_of(data.sentences) if settings.is_prior_matched else None
        self._tagger = make_tagger(
            self._inputs, len(data.types) + 1, settings, settings.seed, self._device
        )

    def _inputs_of(self, sentences: Sequence[Sequence[str]]):
        return make_inputs(replace(self._data, sentences=sentences), self._settings, self._device)

    def __call__(self, progress: Progress) -> None:
        number = progress.epoch.number
        if progress.stage != TRAINING or number % self._every:
            return
        started = time.perf_counter()
        finished = replace(schedule(self._settings), epochs=number)
        fit(self._tagger, self._inputs, _trains_nothing, finished, checkpoint=self._checkpoint)
        probs = predict_probabilities(self._tagger, self._inputs)
        if self._train_inputs is not None:
            on_train = predict_probabilities(self._tagger, self._train_inputs)
            probs = weigh(probs, matching_odds(on_train, self._priors.values[1:].sum()))
        types = self._data.types
        entities = decode([self._gold.document], probs, types, self._settings)
        overall = score_file(self._gold, entities, types)[ALL]
        self.points.append(
            {"epoch": number, **{name: overall[name] for name in ("precision", "recall", "f1")}}
        )
        self.seconds += time.perf_counter() - started


def _trains_nothing(*_: object):
    raise AssertionError("the checkpoint does not hold the epoch that was reported")


# ---- one seed -------------------------------------------------------------------------------


def train(
    options: argparse.Namespace, data: TrainingData, gold: np.ndarray, priors: Priors,
    settings: Settings, curve_gold: Gold,
) -> tuple[Run, list[dict], float]:  # fmt: skip
    """Return the trained run, the points of its curve and the seconds that training took."""
    started = time.perf_counter()
    if METHODS[settings.method].needs_gold:
        trained = run_supervised(replace(data, labels=gold), settings, on_progress=report)
        return trained, [], time.perf_counter() - started
    with tempfile.TemporaryDirectory() if options.curve_every else nullcontext("") as folder:
        checkpoint = Path(folder) / "checkpoint.safetensors" if folder else None
        curve = None
        if checkpoint:
            curve = Curve(options.curve_every, checkpoint, curve_gold, data, priors, settings)
            started = time.perf_counter()

        def on_progress(progress: Progress) -> None:
            report(progress)
            if curve:
                curve(progress)

        trained = run(
            data,
            priors.values,
            settings,
            confidence=read_confidence(options.confidence_file, data, priors, settings),
            checkpoint=checkpoint,
            on_progress=on_progress,
        )
    write_confidence(options.confidence_file, trained, data, priors)
    seconds = time.perf_counter() - started
    return (trained, curve.points, seconds - curve.seconds) if curve else (trained, [], seconds)


def confidence_key(data: TrainingData, priors: Priors, settings: Settings) -> str:
    """Return everything that lambda depends on, as text."""
    names = ("encoder", "seed", "loss", "is_one_sample", "negative_bound", "batch_size")
    names += ("dropout", "character_dropout", "contextual_layer", "encoder_name")
    names += ("learning_rate_schedule", "is_suited_to_labels")
    chosen = {
        name: value
        for name, value in asdict(settings).items()
        if name in names or name.startswith(("confidence_", "learning_rate_decay", "lexicon_"))
    }
    del chosen["confidence_threshold"]  # where lambda is cut, not how it is made
    return repr((data_fingerprint(data), float(priors.values[1:].sum()), sorted(chosen.items())))


def read_confidence(
    path: Path | None, data: TrainingData, priors: Priors, settings: Settings
) -> Confidence | None:
    """Return the confidence that another run has written; None when there is none."""
    if path is None or not path.exists() or not METHODS[settings.method].needs_confidence:
        return None
    with np.load(path) as stored:
        if str(stored["key"]) != confidence_key(data, priors, settings):
            raise InputError(f"{path} is the confidence of other data or settings; name another")
        return Confidence(stored["values"], ())


def write_confidence(path: Path | None, trained: Run, data: TrainingData, priors: Priors) -> None:
    """Write the confidence for other runs."""
    if path is None or path.exists() or trained.confidence is None:
        return
    with written_whole(path) as out:
        key = confidence_key(data, priors, trained.settings)
        np.savez(out, key=np.array(key), values=trained.confidence.values)


def report(progress: Progress) -> None:
    """Say on stderr where training is, ten times per stage."""
    number, epochs = progress.epoch.number, progress.epochs
    if number == epochs or number % max(epochs // 10, 1) == 0:
        print(f"  {epoch_line(progress)}", file=sys.stderr, flush=True)


def measure_seed(
    options: argparse.Namespace, data: TrainingData, gold: np.ndarray, priors: Priors,
    settings: Settings, files: Sequence[Gold],
) -> dict:  # fmt: skip
    """Return all figures of one seed."""
    trained, curve, seconds = train(options, data, gold, priors, settings, files[0])
    started = time.perf_counter()
    scores = {
        file.name: score_file(file, predict(trained, [file.document], cache=data.cache), data.types)
        for file in files
    }
    if options.twin:
        scores |= twin_scores(trained, data, files)
    result = {
        "seed": settings.seed,
        "train_seconds": round(seconds, 1),
        "score_seconds": round(time.perf_counter() - started, 1),
        "odds": trained.odds,
        "scores": scores,
        "history": history(trained.history),
    }
    if curve:
        result["curve"] = curve
    if trained.confidence is not None:
        threshold = settings.confidence_threshold
        of_tokens = score_confidence(
            trained.confidence.values, data.labels, gold > 0, threshold=threshold
        )
        result["confidence"] = {
            "unlabeled": record(of_tokens.unlabeled),
            "all": record(of_tokens.all),
        }
        result["confidence_histories"] = [
            history(epochs) for epochs in trained.confidence.histories
        ]
    return result


def twin_scores(trained: Run, data: TrainingData, files: Sequence[Gold]) -> dict[str, dict]:
    """Return the scores of two fast twins: one saw the train text, one also the scored texts.

    Neither sees labels. The second is what a user has who makes a twin for a corpus at hand.
    """
    train_text = [make_tokenized_document("train", data.sentences)]
    texts = {"twin": train_text, "twin, all text": train_text + [file.document for file in files]}
    scores = {}
    for name, documents in texts.items():
        twin = make_twin(trained, documents, on_progress=report)
        for file in files:
            predicted = predict(twin.run, [file.document])
            scores[f"{file.name} ({name})"] = score_file(file, predicted, data.types)
    return scores


def history(epochs: Sequence) -> list[dict]:
    """Return the records of epochs, ready for JSON."""
    return [
        {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in asdict(epoch).items()}
        for epoch in epochs
    ]


def measure_dictionary(
    phrases: Sequence[Dictionary], files: Sequence[Gold], types: Sequence[str], match: str
) -> dict:
    """Return the scores of the dictionary's matches."""
    started = time.perf_counter()
    scores = {}
    for file in files:
        labels = label([file.document], phrases, match)
        scores[file.name] = score_file(file, dictionary_entities(labels, [file.document]), types)
    return {"score_seconds": round(time.perf_counter() - started, 1), "scores": scores}


# ---- the table ------------------------------------------------------------------------------


def show_seed(row: dict) -> None:
    """Print the scores of one seed, one line per file."""
    for name, scores in row["scores"].items():
        print(f"seed {row['seed']:<5}{name:<24}{_prf(scores[ALL])}", flush=True)


def show(result: dict) -> None:
    """Print the summary over seeds."""
    count = len(result["runs"])
    print(f"\nspan P / R / F1 in percent, mean and standard deviation over {count} seed(s)")
    header = f"{'precision':>16}{'recall':>16}{'F1':>16}"
    print(f"{'file':<24}{'type':<12}{header}")
    for name, scores in result["summary"].items():
        for i, (entity_type, summary) in enumerate(scores.items()):
            print(f"{name if i == 0 else '':<24}{entity_type:<12}{_spread(summary)}")
    if "confidence_summary" in result:
        print(f"\n{'lambda > tau, train tokens':<36}{header}")
        for tokens, summary in result["confidence_summary"].items():
            print(f"{tokens:<36}{_spread(summary)}")
    for row in result["runs"]:
        if "curve" in row:
            points = "  ".join(f"{p['epoch']}: {p['f1']:.1f}" for p in row["curve"])
            print(f"\nF1 on {next(iter(row['scores']))} by epoch, seed {row['seed']}\n{points}")
    if seconds := [row["train_seconds"] for row in result["runs"] if "train_seconds" in row]:
        print(f"\ntraining: {np.mean(seconds):,.1f} s per seed, {sum(seconds):,.1f} s in all")


def _prf(scores: dict[str, float]) -> str:
    return " / ".join(f"{scores[name]:.2f}" for name in ("precision", "recall", "f1"))


def _spread(summary: dict[str, dict[str, float]]) -> str:
    cells = (f"{row['mean']:.2f} ± {row['deviation']:.2f}" for row in summary.values())
    return "".join(f"{cell:>16}" for cell in cells)


# ---- the command ----------------------------------------------------------------------------


def measure(options: argparse.Namespace, cache: Path) -> dict:
    """Return all figures of one setting, method and encoder; `cache` is for slow features."""
    setting = SETTINGS[options.setting]
    valid = options.data / Path(setting.train).parent / "valid.txt"
    files = [read_gold(path) for path in (valid, *options.score)]
    if len({file.name for file in files}) < len(files):
        raise InputError("the files to score on must have different names, none of them valid.txt")
    result: dict = {
        "benchmark": "quality",
        "setting": options.setting,
        "track": options.track,
        "method": options.method,
        "encoder": "none" if options.method == DICTIONARY else options.encoder,
        "threads": options.threads,
        "match": options.match,
        "noise": options.noise,
    }
    lexicon, notes = choose_lexicon(options)
    result |= {"lexicon": lexicon, "notes": notes}
    if options.method == DICTIONARY:
        if not setting.dictionary:
            raise InputError(f"{options.setting} has no dictionary to match with")
        phrases = dictionaries(options.setting, options.data)
        row = {"seed": 0} | measure_dictionary(
            phrases, files, setting.types, options.match or "strict"
        )
        return result | {"runs": [row]} | summaries([row])
    sentences, tags, published = load(options.setting, options.data)
    document = make_tokenized_document("train", sentences)
    labels, about = make_labels(options, document, published)
    notes += about
    gold = gold_classes(tags, labels.types)
    settings = settings_of(options, options.seeds[0])
    prepared = prepare(
        [document],
        read_lexicon(lexicon, options),
        match=options.match if lexicon == "dictionary" and options.match else "strict",
        settings=replace(settings, seed=PRIOR_SEED),
        labels=labels,
        priors=choose_priors(options, labels, gold),
        cache=cache,
    )
    data, priors = prepared.data, prepared.priors
    if lexicon == "none":
        data = replace(data, lexicon=None)
    if METHODS[options.method].needs_gold:
        notes.append(f"{options.method}: trained on the gold of the train file")
    else:
        notes += prepared.notes
        if options.priors == "true":
            notes.append("priors: from the gold of the train file, which no user has")
        result["priors"] = {
            "source": options.priors,
            "values": dict(zip(priors.types, priors.values[1:].round(5).tolist(), strict=True)),
        }
    result |= {"preset": options.preset, "settings": asdict(settings)}
    show_plan(result)
    runs = []
    for seed in options.seeds:
        runs.append(measure_seed(options, data, gold, priors, replace(settings, seed=seed), files))
        show_seed(runs[-1])
    return result | {"runs": runs} | summaries(runs)


def summaries(runs: Sequence[dict]) -> dict:
    """Return the summary over seeds of every file, and of lambda where there is one."""
    result = {
        "summary": {
            file: {name: summarize([row["scores"][file][name] for row in runs]) for name in scores}
            for file, scores in runs[0]["scores"].items()
        }
    }
    if "confidence" in runs[0]:
        result["confidence_summary"] = {
            name: summarize([row["confidence"][name] for row in runs])
            for name in runs[0]["confidence"]
        }
    return result


def show_plan(result: dict) -> None:
    """Print what is about to be trained."""
    settings = result["settings"]
    risk = f"gamma {settings['entity_weight']:g}, {settings['loss']}"
    if METHODS[result["method"]].needs_gold:
        risk = "cross-entropy"
    print(
        f"{result['setting']}, track {result['track']}: {result['method']}, {result['encoder']}, "
        f"preset {result['preset']}, lexicon {result['lexicon']}, {settings['epochs']} epochs, "
        f"{risk}, lr {settings['learning_rate']:g}"
    )
    if "priors" in result:
        values = ", ".join(f"{k} {v:.4f}" for k, v in result["priors"]["values"].items())
        print(f"priors, {result['priors']['source']}: {values}")
    for note in result["notes"]:
        print(note)
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("setting", choices=SETTINGS, metavar="SETTING", help=", ".join(SETTINGS))
    parser.add_argument("--track", choices=("clean", "paper"), required=True)
    parser.add_argument("--method", choices=(DICTIONARY, *METHODS), required=True)
    parser.add_argument("--encoder", choices=ENCODERS, default="bilstm", help="(%(default)s)")
    parser.add_argument("--preset", choices=TRAINING_PRESETS, help="(the track's)")
    parser.add_argument("--epochs", type=int, help="(the preset's)")
    parser.add_argument("--confidence-epochs", type=int, help="(the preset's)")
    parser.add_argument("--pace", choices=("fast", "paper"), default="fast", help="(%(default)s)")
    parser.add_argument("--seeds", type=_seeds, default=(1, 2, 3), help="with commas (1,2,3)")
    parser.add_argument("--set", action="extend", nargs="+", default=[], metavar="NAME=VALUE")
    parser.add_argument("--lexicon", choices=LEXICONS, help="(the track's)")
    parser.add_argument("--priors", choices=PRIOR_SOURCES, help="(the track's)")
    parser.add_argument("--match", choices=MATCH_PRESETS, help="(the published labels)")
    parser.add_argument(
        "--noise", type=float, default=0.0, metavar="SHARE",
        help="everyday words added to the dictionary, and as many wrong types (with --match)",
    )  # fmt: skip
    parser.add_argument("--score", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--confidence-file", type=Path, help="lambda, written once and shared")
    parser.add_argument("--curve-every", type=int, default=0, metavar="N", help="epochs")
    parser.add_argument("--twin", action="store_true", help="score fast twins of the runs, too")
    parser.add_argument("--threads", type=int, default=1, help="(%(default)s)")
    add_data_option(parser)
    options = parser.parse_args()
    options.priors = options.priors or TRACK_PRIORS[options.track]
    options.preset = options.preset or TRACK_PRESETS[options.track]
    set_threads(options.threads)
    try:
        check_curve(options)
        check_noise(options)
        with tempfile.TemporaryDirectory() as cache:
            result = measure(options, Path(cache))
    except InputError as error:
        parser.error(str(error))
    show(result)
    environment.finish(result)


def check_noise(options: argparse.Namespace) -> None:
    """Raise InputError if noise is asked for and no dictionary of ours labels the text."""
    if options.noise and not (options.match and SETTINGS[options.setting].dictionary):
        raise InputError("--noise is for a setting with a dictionary, and needs --match")
    if not 0 <= options.noise < 0.5:
        raise InputError(f"--noise is a share of the phrases below 0.5, got {options.noise:g}")


def check_curve(options: argparse.Namespace) -> None:
    """Raise InputError if a curve is asked for and there is not exactly one tagger to draw."""
    if not options.curve_every:
        return
    if options.method not in CURVE_METHODS:
        raise InputError(f"--curve-every is for {', '.join(CURVE_METHODS)}")
    settings = settings_of(options, options.seeds[0])
    if METHODS[options.method].tagger_count(settings, 1) > 1:
        raise InputError(
            "--curve-every is for one tagger; add --set ensemble=1 is_self_trained=false"
        )


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(int(seed) for seed in text.split(","))


if __name__ == "__main__":
    main()
