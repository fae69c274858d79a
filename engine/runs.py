"""A trained run becomes a folder that can be moved, and a folder becomes a run that predicts."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from engine.assembly import make_inputs, make_tagger
from engine.confidence import Confidence
from engine.device import choose_device
from engine.dictionary import Dictionary, fingerprint
from engine.encoders import MINILM, load_encoder, open_saved_encoder, save_encoder
from engine.experiment import Run
from engine.features import Lexicon, lexicon_from, lexicon_record
from engine.files import written_whole
from engine.methods import METHODS
from engine.pretrained import Pretrained, has_encoder, vectors_of
from engine.settings import Settings
from engine.text import InputError
from engine.training import Epoch
from engine.training_data import TrainingData
from engine.vectors import VectorTable, open_vectors, vectors_fingerprint

_LAYOUT = 2  # of the folder and its taggers; raised when code of another layout cannot use them
_CARD = "run.json"
_ENCODER = "encoder"  # folder in that of the run
_CARD_KEYS = frozenset(
    (
        "run_id", "made_at", "settings", "types", "priors", "history", "confidence_histories",
        "data_fingerprint", "dictionary_fingerprint", "versions", "taggers", "odds", "scores",
    )
)  # fmt: skip
_PACKAGES = ("torch", "transformers", "numpy", "flashtext", "seqeval", "sentencex")


@dataclass(frozen=True, slots=True)
class Card:
    """What is known about a run besides its weights."""

    run_id: str
    method: str
    made_at: str
    settings: Mapping[str, Any]
    data_fingerprint: str
    dictionary_fingerprint: str
    versions: Mapping[str, str]
    scores: Mapping[str, Any]
    vectors_fingerprint: str = ""  # of the word vectors; older cards do not have it


def data_fingerprint(data: TrainingData) -> str:
    """Return a short hash of the sentences, their labels and what they are looked up in."""
    digest = hashlib.sha256(data.labels.tobytes())
    digest.update(ascii(data.types).encode())
    if data.known_negatives is not None:
        digest.update(data.known_negatives.tobytes())
    if data.lexicon is not None:
        lexicon = data.lexicon
        parts = (fingerprint(lexicon.dictionaries), lexicon.options, lexicon.types)
        digest.update(ascii((*parts, lexicon.tokens_given)).encode())
    for tokens in data.sentences:
        digest.update("\x1f".join(tokens).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:16]


def save_run(
    folder: Path,
    trained: Run,
    *,
    data: TrainingData,
    dictionaries: Sequence[Dictionary] = (),
    scores: Mapping[str, Any] | None = None,
) -> None:
    """Write the run to `folder`; its card last, so a folder with a card is whole."""
    (folder / _CARD).unlink(missing_ok=True)  # of an earlier run, whose weights go now
    for i, tagger in enumerate(trained.taggers):
        tensors = {name: t.detach().cpu().contiguous() for name, t in tagger.state_dict().items()}
        with written_whole(folder / f"tagger-{i}.safetensors") as out:
            out.write(save(tensors))
    if trained.confidence is not None:
        with written_whole(folder / "confidence.npy") as out:
            np.save(out, trained.confidence.values)
    _write_json(folder / "lexicon.json", lexicon_record(trained.lexicon))
    _save_encoder(folder / _ENCODER, trained)
    _write_json(
        folder / _CARD,
        {
            "layout": _LAYOUT,
            "run_id": folder.name,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "settings": asdict(trained.settings),
            "types": list(trained.types),
            "priors": trained.priors.tolist(),
            "history": [asdict(epoch) for epoch in trained.history],
            "confidence_histories": [
                [asdict(epoch) for epoch in history]
                for history in (trained.confidence.histories if trained.confidence else ())
            ],
            "data_fingerprint": data_fingerprint(data),
            "dictionary_fingerprint": fingerprint(dictionaries),
            "vectors_fingerprint": _fingerprint_of_vectors(trained.settings),
            "versions": {"python": platform.python_version()}
            | {name: version(name) for name in _PACKAGES},
            "taggers": len(trained.taggers),
            "odds": trained.odds,
            "scores": dict(scores or {}),
        },
    )


def is_finished_run(
    folder: Path, data: TrainingData, priors: npt.NDArray[np.float64], settings: Settings
) -> bool:
    """Return whether `folder` holds a whole run of this data, these priors and settings."""
    if not (folder / _CARD).exists():
        return False
    record = _read_card(folder)
    if record["settings"] != asdict(settings) or record["priors"] != priors.tolist():
        return False
    return bool(record["data_fingerprint"] == data_fingerprint(data))


def write_scores(folder: Path, scores: Mapping[str, Any]) -> None:
    """Add scores against gold to the card of a finished run."""
    record = _read_card(folder)
    record["scores"] = {**record["scores"], **scores}
    _write_json(folder / _CARD, record)


def read_card(folder: Path) -> Card:
    """Return the card of a run without its weights."""
    record = _read_card(folder)
    return Card(
        run_id=record["run_id"],
        method=record["settings"]["method"],
        made_at=record["made_at"],
        settings=record["settings"],
        data_fingerprint=record["data_fingerprint"],
        dictionary_fingerprint=record["dictionary_fingerprint"],
        versions=record["versions"],
        scores=record["scores"],
        vectors_fingerprint=record.get("vectors_fingerprint", ""),
    )


def load_run(folder: Path) -> Run:
    """Return the run in `folder`, ready to predict, wherever the folder was made."""
    record = _read_card(folder)
    settings = _settings_from(folder, record)
    types = tuple(record["types"])
    lexicon = _read_lexicon(folder / "lexicon.json")
    device = choose_device()
    pretrained = Pretrained(
        _open_vectors(folder, record, settings), lambda: _open_encoder(folder, settings)
    )
    # A sentence of one token is enough to learn the sizes of the inputs.
    inputs = make_inputs(
        TrainingData([["a"]], np.zeros(1, np.int16), types, lexicon), settings, device, pretrained
    )
    classes = METHODS[settings.method].classes(len(types))
    taggers = []
    for i in range(record["taggers"]):
        tagger = make_tagger(inputs, classes, settings, settings.seed, device)
        _load_weights(tagger, folder / f"tagger-{i}.safetensors")
        taggers.append(tagger.eval())
    return Run(
        settings,
        types,
        np.array(record["priors"]),
        tuple(taggers),
        lexicon,
        pretrained,
        _epochs(record["history"]),
        _confidence_from(folder, record),
        record["odds"],
    )


def _fingerprint_of_vectors(settings: Settings) -> str:
    # A file that was taken away meanwhile is no reason to lose what was trained with it.
    with suppress(InputError, OSError):
        return vectors_fingerprint(vectors_of(settings))
    return ""


def _save_encoder(folder: Path, trained: Run) -> None:
    """Keep the transformer with the run, so that it works where its name or folder is not known.

    The weights of a fine-tuned one are in its tagger; the built-in one is wherever Glossa is.
    """
    if not has_encoder(trained.settings) or _is_built_in(trained.settings):
        return
    has_weights = trained.settings.encoder != "transformer"
    save_encoder(folder, *trained.pretrained.encoder, has_weights=has_weights)


def _is_built_in(settings: Settings) -> bool:
    return settings.encoder_name == MINILM


def _open_encoder(folder: Path, settings: Settings) -> Any:
    if _is_built_in(settings) or not (folder / _ENCODER).is_dir():
        return load_encoder(settings.encoder_name)
    return open_saved_encoder(folder / _ENCODER, has_weights=settings.encoder != "transformer")


def _open_vectors(folder: Path, record: dict[str, Any], settings: Settings) -> VectorTable:
    """The word vectors that the run was trained with, to be looked up many times.

    A file of vectors may be put into the folder of a run that went to another machine.
    """
    source = vectors_of(settings)
    beside = folder / Path(source).name
    try:
        vectors = open_vectors(str(beside) if beside.is_file() else source)
    except InputError as error:
        if source in ("glove", "none"):
            raise
        raise InputError(f"{error}. The run needs it: put it back, or into {folder}") from error
    known = record.get("vectors_fingerprint", "")
    if known and known != vectors.fingerprint:
        raise InputError(
            f"the word vectors of {vectors.name} ({vectors.fingerprint}) are not those that the "
            f"run in {folder} was trained with ({known}). Put those back, or train again"
        )
    return vectors


def _load_weights(tagger: nn.Module, path: Path) -> None:
    try:
        with safe_open(path, framework="pt") as stored:
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        tagger.load_state_dict(tensors)
    except (OSError, RuntimeError, SafetensorError) as error:
        raise InputError(
            f"the weights in {path} do not fit this run ({str(error).splitlines()[0]}). "
            "Was the file changed, or are the word vectors of another size?"
        ) from error


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / _CARD
    if not path.exists():
        raise InputError(f"{folder} is not a finished run: it has no {_CARD}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(record, dict) or not isinstance(record.get("layout"), int):
        raise _damaged(path)
    if record["layout"] > _LAYOUT:
        raise InputError(f"{folder} was written by a newer version of Glossa. Update this one")
    if record["layout"] < _LAYOUT:
        raise InputError(
            f"{folder} was written by an older version of Glossa, whose taggers this one cannot "
            "use. Train again"
        )
    if not record.keys() >= _CARD_KEYS:
        raise _damaged(path)
    return record


def _damaged(path: Path) -> InputError:
    return InputError(
        f"{path} cannot be read; the run is damaged. Delete its folder and train again"
    )


def _settings_from(folder: Path, record: dict[str, Any]) -> Settings:
    try:
        return Settings(**record["settings"])
    except (TypeError, ValueError):
        raise _damaged(folder / _CARD) from None


def _epochs(records: list[dict[str, Any]]) -> tuple[Epoch, ...]:
    return tuple(Epoch(**record) for record in records)


def _confidence_from(folder: Path, record: dict[str, Any]) -> Confidence | None:
    path = folder / "confidence.npy"
    if not path.exists():
        return None
    histories = tuple(_epochs(history) for history in record["confidence_histories"])
    try:
        return Confidence(np.load(path, allow_pickle=False), histories)
    except (OSError, ValueError, EOFError):
        raise _damaged(path) from None


def _read_lexicon(path: Path) -> Lexicon | None:
    try:
        return lexicon_from(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        raise _damaged(path) from None


def _write_json(path: Path, value: object) -> None:
    with written_whole(path) as out:
        # ASCII, because a phrase may hold half a surrogate pair, which UTF-8 cannot.
        out.write(json.dumps(value).encode())
