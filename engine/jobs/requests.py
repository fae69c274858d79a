"""Describe what a job is to do: check it before it starts, print its command, store it as JSON."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from engine.files import SourceFile
from engine.planning import METHODS
from engine.scoring import check_hidden_share
from engine.settings import (
    DEFAULT_TRAINING_PRESET,
    ENCODERS,
    SETTING_RULES,
    TRAINING_PRESETS,
    ReadOptions,
    Settings,
    training_settings,
)
from engine.settings import METHODS as OFFERED_FIRST
from engine.shards import check_allowed
from engine.text import InputError

TRAINABLE = tuple(METHODS)
_OWN_FIELDS = ("method", "encoder", "seed")  # the request has fields of its own for these


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """Methods to train on the project's text and dictionaries, and to compare."""

    methods: tuple[str, ...] = OFFERED_FIRST
    preset: str = DEFAULT_TRAINING_PRESET
    encoder: str = "bilstm"
    settings: Mapping[str, Any] = field(default_factory=dict)  # changes to the preset
    seed: int = 0
    priors: Mapping[str, float] | None = None  # by entity type; None = estimated
    use_decisions: bool = False  # what was accepted and rejected in review joins the labels
    hide: float = 0.0  # share of phrases hidden in a second training that compares; 0: no second


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A training whose speed is measured on a few batches per method."""

    methods: tuple[str, ...] = OFFERED_FIRST
    preset: str = DEFAULT_TRAINING_PRESET
    encoder: str = "bilstm"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CurveRequest:
    """Methods to train on growing shares of the dictionaries."""

    fractions: tuple[int, ...] = (20, 40, 60, 80, 100)  # percent
    methods: tuple[str, ...] = OFFERED_FIRST
    seeds: tuple[int, ...] = (0,)
    preset: str = DEFAULT_TRAINING_PRESET
    settings: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = "bilstm"


@dataclass(frozen=True, slots=True)
class PredictRequest:
    """Texts in which a trained method finds entities."""

    run: str  # id of the train job
    method: str
    files: tuple[SourceFile, ...] = ()  # stored in the job's folder when it starts
    options: ReadOptions = ReadOptions()
    is_fast: bool = False  # by the fast twin of the method


@dataclass(frozen=True, slots=True)
class TwinRequest:
    """A trained method whose fast twin is made from the project's text."""

    run: str  # id of the train job
    method: str


@dataclass(frozen=True, slots=True)
class ShardsRequest:
    """A large corpus in which a trained method finds entities; its results stay beside it."""

    run: str  # id of the train job
    method: str
    texts: str  # folder or URL of shards
    out: str  # folder or URL for the results
    address: str = ""  # head node of a Ray cluster; "" for this machine alone
    format: str = "jsonl"


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """A search for likely names that the dictionaries lack; no network is trained."""

    preset: str = DEFAULT_TRAINING_PRESET  # whose features are used, so that training shares them
    settings: Mapping[str, Any] = field(default_factory=dict)
    encoder: ClassVar[str] = "bilstm"
    seed: ClassVar[int] = 0


Request = (
    TrainRequest
    | ProbeRequest
    | CurveRequest
    | PredictRequest
    | ShardsRequest
    | SuggestRequest
    | TwinRequest
)
KINDS: dict[str, type[Request]] = {
    "train": TrainRequest,
    "probe": ProbeRequest,
    "curve": CurveRequest,
    "predict": PredictRequest,
    "shards": ShardsRequest,
    "suggest": SuggestRequest,
    "twin": TwinRequest,
}
# These use all cores for long, so a project runs one at a time. The others are short.
QUEUED_KINDS = ("train", "curve")


def kind_of(request: Request) -> str:
    """Return the kind of job for a request."""
    return next(kind for kind, cls in KINDS.items() if type(request) is cls)


def check_request(request: Request) -> None:
    """Raise InputError for a request that no job can fulfil."""
    if isinstance(request, PredictRequest | TwinRequest):
        return
    if isinstance(request, ShardsRequest):
        check_allowed((request.texts, request.out))
        return
    if isinstance(request, SuggestRequest):
        settings_of(request)
        return
    if not request.methods:
        raise InputError(f"no method is chosen; choose from {', '.join(TRAINABLE)}")
    for method in request.methods:
        if method not in TRAINABLE:
            raise InputError(f'"{method}" is not a method; choose from {", ".join(TRAINABLE)}')
    if isinstance(request, CurveRequest):
        for method in request.methods:
            if METHODS[method].needs_gold:
                raise InputError(f"{method} learns from gold, so it has no curve over dictionaries")
        _check_numbers("share of the dictionary, in percent,", request.fractions, 1, 100)
        _check_numbers("seed", request.seeds, 0, 1_000_000)
    if isinstance(request, TrainRequest) and request.hide:
        check_hidden_share(request.hide)
    settings_of(request)


def _check_numbers(what: str, numbers: tuple[int, ...], least: int, most: int) -> None:
    wrong = [number for number in numbers if not least <= number <= most]
    if wrong or not numbers:
        got = f"got {wrong[0]}" if wrong else "none is chosen"
        raise InputError(f"a {what} is a whole number from {least} to {most:,}; {got}")


def settings_of(
    request: TrainRequest | ProbeRequest | CurveRequest | SuggestRequest,
) -> Settings:
    """Return the settings of the preset, with the changes of the request."""
    if request.preset not in TRAINING_PRESETS:
        names = ", ".join(TRAINING_PRESETS)
        raise InputError(f'"{request.preset}" is not a preset; choose from {names}')
    if request.encoder not in ENCODERS:
        raise InputError(
            f'"{request.encoder}" is not an encoder; choose from {", ".join(ENCODERS)}'
        )
    seed = 0 if isinstance(request, CurveRequest) else request.seed
    changes = {name: _with_kind(name, value) for name, value in request.settings.items()}
    try:
        return replace(training_settings(request.preset, request.encoder), **changes, seed=seed)
    except ValueError as error:
        raise InputError(str(error)) from None


def _with_kind(name: str, value: Any) -> Any:
    """Return the value of a setting; a whole number that stands for a decimal one becomes one."""
    changeable = SETTING_RULES.keys() - set(_OWN_FIELDS)
    if name not in changeable:
        names = ", ".join(sorted(changeable))
        raise InputError(f'"{name}" is not a setting that can be changed; choose one of {names}')
    return float(value) if SETTING_RULES[name].kind is float and type(value) is int else value


# ---- made of a request ----------------------------------------------------------------------


def probe_of(request: TrainRequest | CurveRequest) -> ProbeRequest:
    """Return the request that measures how fast the methods of a training or curve train."""
    seed = request.seed if isinstance(request, TrainRequest) else 0
    return ProbeRequest(request.methods, request.preset, request.encoder, request.settings, seed)


def command_of(project_id: str, request: TrainRequest | CurveRequest) -> str:
    """Return the shell command that does the same as the request.

    >>> command_of("sample", TrainRequest(("mpn",), "quick", settings={"epochs": 3}, seed=7))
    'glossa train --project sample --preset quick --methods mpn --seed 7 --set epochs=3'
    """
    words = ["glossa", kind_of(request), "--project", project_id]
    if isinstance(request, CurveRequest):
        words += ["--fractions", ",".join(map(str, request.fractions))]
        words += ["--seeds", ",".join(map(str, request.seeds))]
    words += ["--preset", request.preset]
    if request.encoder != "bilstm":
        words += ["--encoder", request.encoder]
    if request.methods and set(request.methods) != set(OFFERED_FIRST):
        words += ["--methods", ",".join(request.methods)]
    if isinstance(request, TrainRequest) and request.seed:
        words += ["--seed", str(request.seed)]
    if request.settings:
        words += ["--set", *(f"{name}={value}" for name, value in request.settings.items())]
    if isinstance(request, TrainRequest) and request.priors:
        words += ["--priors", *(f"{name}={value}" for name, value in request.priors.items())]
    if isinstance(request, TrainRequest) and request.use_decisions:
        words.append("--use-decisions")
    if isinstance(request, TrainRequest) and request.hide:
        words += ["--hide", f"{request.hide:g}"]
    return shlex.join(words)


# ---- as JSON --------------------------------------------------------------------------------


def request_record(request: Request) -> dict[str, Any]:
    """Return the request as JSON values; files are stored apart, so only their names are in it."""
    if isinstance(request, PredictRequest):
        return {
            "run": request.run,
            "method": request.method,
            "files": [file.name for file in request.files],
            "options": asdict(request.options),
            "is_fast": request.is_fast,
        }
    return asdict(request)


def request_from(
    kind: str, record: Mapping[str, Any], files: tuple[SourceFile, ...] = ()
) -> Request:
    """Return the request of a stored record; `files` are those of a predict job."""
    if kind == "predict":
        options = ReadOptions(**record["options"])
        is_fast = record.get("is_fast", False)
        return PredictRequest(record["run"], record["method"], files, options, is_fast)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    return KINDS[kind](**values)
