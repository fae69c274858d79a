"""Save a trained run as a folder that can be moved, and load it again to predict."""

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import nn

from engine.dictionaries import Dictionary, fingerprint
from engine.experiment import Run, Twin
from engine.files import written_whole
from engine.learning import Confidence, Epoch, TrainingData, make_inputs, make_tagger
from engine.network import (
    MINILM,
    Lexicon,
    Pretrained,
    VectorTable,
    choose_device,
    has_encoder,
    lexicon_from,
    lexicon_record,
    load_encoder,
    open_saved_encoder,
    open_vectors,
    save_encoder,
    vectors_fingerprint,
    vectors_of,
)
from engine.planning import METHODS
from engine.run_folder import (
    CONFIDENCE,
    ENCODER,
    LEXICON,
    Card,
    check_size,
    damaged,
    has_card,
    is_allowed,
    read_card,
    read_confidence,
    read_lexicon_record,
    refuse_unasked,
    remove_card,
    tagger_path,
    to_ask_of_run,
    write_card,
    write_json,
)
from engine.settings import Settings
from engine.text import InputError

_PACKAGES = ("torch", "transformers", "numpy", "flashtext", "seqeval", "sentencex")


def data_fingerprint(data: TrainingData) -> str:
    """Return a short hash of the sentences, their labels and what they are looked up in."""
    digest = hashlib.sha256(data.labels.tobytes())
    digest.update(ascii(data.types).encode())
    if data.known_negatives is not None:
        digest.update(data.known_negatives.tobytes())
    if data.lexicon is not None:
        lexicon = data.lexicon
        parts = (fingerprint(lexicon.dictionaries), lexicon.options, lexicon.types)
        decided = (sorted(lexicon.folding),) if lexicon.folding else ()
        digest.update(ascii((*parts, lexicon.tokens_given, *decided)).encode())
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
    made_from: Mapping[str, Any] | None = None,
) -> None:
    """Write the run to `folder`; its card last, so a folder with a card is whole.

    `made_from` is for a twin: what it was made from.
    """
    remove_card(folder)
    for i, tagger in enumerate(trained.taggers):
        tensors = {name: t.detach().cpu().contiguous() for name, t in tagger.state_dict().items()}
        with written_whole(tagger_path(folder, i)) as out:
            out.write(save(tensors))
    if trained.confidence is not None:
        with written_whole(folder / CONFIDENCE) as out:
            np.save(out, trained.confidence.values)
    write_json(folder / LEXICON, lexicon_record(trained.lexicon))
    _save_encoder(folder / ENCODER, trained)
    histories = trained.confidence.histories if trained.confidence else ()
    write_card(
        folder,
        Card(
            run_id=folder.name,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            settings=trained.settings,
            types=tuple(trained.types),
            priors=tuple(trained.priors.tolist()),
            history=_records(trained.history),
            confidence_histories=tuple(map(_records, histories)),
            data_fingerprint=data_fingerprint(data),
            dictionary_fingerprint=fingerprint(dictionaries),
            versions={"python": platform.python_version()}
            | {name: version(name) for name in _PACKAGES},
            taggers=len(trained.taggers),
            odds=trained.odds,
            scores=dict(scores or {}),
            vectors_fingerprint=_fingerprint_of_vectors(trained.settings),
            made_from=dict(made_from or {}),
        ),
    )


def save_twin(folder: Path, twin: Twin, teacher_id: str) -> None:
    """Write a twin as a run like any other; its card says what it was made from."""
    folder.mkdir(parents=True, exist_ok=True)
    save_run(
        folder,
        twin.run,
        data=twin.data,
        dictionaries=twin.run.lexicon.dictionaries if twin.run.lexicon else (),
        made_from={
            "twin_of": teacher_id,
            "sentences": len(twin.data.sentences),
            "tokens": len(twin.data.labels),
            "agreement": twin.agreement,
        },
    )


def is_finished_run(
    folder: Path, data: TrainingData, priors: npt.NDArray[np.float64], settings: Settings
) -> bool:
    """Return whether `folder` holds a whole run of this data, these priors and settings."""
    if not has_card(folder):
        return False
    card = read_card(folder)
    if card.settings != settings or card.priors != tuple(priors.tolist()):
        return False
    return card.data_fingerprint == data_fingerprint(data)


def write_scores(folder: Path, scores: Mapping[str, Any]) -> None:
    """Add scores against gold to the card of a finished run."""
    card = read_card(folder)
    write_card(folder, replace(card, scores={**card.scores, **scores}))


def load_run(folder: Path, *, is_trusted: bool = False) -> Run:
    """Return the run in `folder`, ready to predict, wherever the folder was made.

    An imported run opens nothing outside its folder that the user has not allowed, and no run asks
    the network for an encoder, unless it is trusted.
    """
    card = read_card(folder)
    if not is_trusted:
        refuse_unasked(to_ask_of_run(folder))
    settings, types = card.settings, card.types
    lexicon = _read_lexicon(folder / LEXICON)
    check_size(folder, card, len(lexicon.types) if lexicon else 0)
    device = choose_device()
    pretrained = Pretrained(
        _open_vectors(folder, card, settings),
        lambda: _open_encoder(folder, settings, is_trusted=is_trusted),
        is_minilm=_is_built_in(settings),
    )
    # A sentence of one token is enough to learn the sizes of the inputs.
    data = TrainingData([["a"]], np.zeros(1, np.int16), types, lexicon)
    outputs = METHODS[settings.method].outputs(len(types))
    taggers = []
    try:
        inputs = make_inputs(data, settings, device, pretrained)
        for i in range(card.taggers):
            tagger = make_tagger(inputs, outputs, settings, settings.seed, device)
            _load_weights(tagger, tagger_path(folder, i))
            taggers.append(tagger.eval())
    except InputError:
        raise
    # Sizes that no network can have, from a card that someone changed.
    except (RuntimeError, ValueError, TypeError, MemoryError, OverflowError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise InputError(
            f"the run in {folder} cannot be loaded ({reason}). Copy it again, or train again"
        ) from error
    return Run(
        settings,
        types,
        np.array(card.priors),
        tuple(taggers),
        lexicon,
        pretrained,
        _epochs(folder, card.history),
        _confidence_from(folder, card),
        card.odds,
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


def _open_encoder(folder: Path, settings: Settings, *, is_trusted: bool) -> Any:
    if _is_built_in(settings):
        return load_encoder(settings.encoder_name)
    if not (folder / ENCODER).is_dir():
        # `save_run` has written it, so somebody took it away or made this folder by hand.
        if is_trusted or is_allowed(folder, settings.encoder_name):
            return load_encoder(settings.encoder_name)
        raise InputError(
            f'{folder} lacks its folder "{ENCODER}". Copy the run again, or allow it to load '
            f'"{settings.encoder_name[:80]}" if you know what that is',
            "trust",
        )
    # The weights of a fine-tuned encoder are in its tagger.
    weights = tagger_path(folder, 0) if settings.encoder == "transformer" else None
    return open_saved_encoder(folder / ENCODER, weights)


def _open_vectors(folder: Path, card: Card, settings: Settings) -> VectorTable:
    """The word vectors that the run was trained with, to be looked up many times.

    A file of vectors may be put into the folder of a run that went to another machine.
    """
    source = vectors_of(settings)
    beside = folder / Path(source).name
    place = str(beside) if beside.is_file() else source
    known = card.vectors_fingerprint
    try:
        # The hash comes first: a file that the run was not trained with is not interpreted.
        is_other = bool(known) and known != vectors_fingerprint(place)
        vectors = None if is_other else open_vectors(place)
    except (InputError, OSError) as error:
        if source in ("glove", "none"):
            raise
        raise InputError(f"{error}. The run needs it: put it back, or into {folder}") from error
    if vectors is None:
        raise InputError(
            f"the word vectors of {Path(place).name} are not those that the run in {folder} was "
            f"trained with ({known[:16]}). Put those back, or train again"
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


def _records(epochs: Iterable[Epoch]) -> tuple[dict[str, float], ...]:
    return tuple(asdict(epoch) for epoch in epochs)


def _epochs(folder: Path, records: Sequence[Mapping[str, Any]]) -> tuple[Epoch, ...]:
    try:
        return tuple(Epoch(**record) for record in records)
    except TypeError:
        raise damaged(folder) from None


def _confidence_from(folder: Path, card: Card) -> Confidence | None:
    path = folder / CONFIDENCE
    if not path.exists():
        return None
    histories = tuple(_epochs(folder, history) for history in card.confidence_histories)
    return Confidence(read_confidence(path), histories)


def _read_lexicon(path: Path) -> Lexicon | None:
    try:
        return lexicon_from(read_lexicon_record(path))
    except (ValueError, KeyError, TypeError):
        raise damaged(path) from None
