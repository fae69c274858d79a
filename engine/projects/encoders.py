"""Download the transformers of the menu once per data folder, and find them there. No torch.

download_encoder("FacebookAI/roberta-base")    # from Hugging Face; raises InputError offline
encoder_folder("FacebookAI/roberta-base")      # its folder, or None: the value of encoder_name
"""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from engine.files import write_error, written_whole
from engine.planning import ENCODER_MENU, KnownEncoder, known_encoder
from engine.projects.workspace import data_folder
from engine.settings import LANGUAGES
from engine.system import is_left_behind, process_mark
from engine.text import InputError, one_line

ENCODERS = ".encoders"  # in the data folder; no project can have this name
_PROGRESS = "progress.json"
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
_FILES = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
    "LICENSE", "README.md",
)  # fmt: skip
_SECONDS_TO_ANSWER = 10.0
_LOOK_SECONDS = 0.5
_SILENT_SECONDS = 120  # after which a download that noted nothing is dead
_MANY = " languages"
_SPARE = 200_000_000  # bytes that stay free

OnBytes = Callable[[int, int], None]


def encoder_folder(name: str) -> Path | None:
    """Return the folder of a downloaded encoder; None if it is not here."""
    encoder = known_encoder(name)
    folder = data_folder() / ENCODERS / encoder.slug if encoder else None
    return folder if folder and (folder / "config.json").is_file() else None


def knows_language(encoder: KnownEncoder, code: str) -> bool:
    """Return whether an encoder of the menu was trained on a language that Glossa knows.

    >>> [knows_language(encoder, "de") for encoder in (ENCODER_MENU[0], ENCODER_MENU[-1])]
    [False, True]
    """
    # The multilingual ones ("104 languages") were trained on the largest Wikipedias or on
    # CommonCrawl: every language of ours is among them.
    return encoder.languages == LANGUAGES[code] or encoder.languages.endswith(_MANY)


def chosen_encoder(name: str) -> str:
    """Return the value of `encoder_name` for a name of the menu; InputError if it is not here."""
    encoder = _of_menu(name)
    if not encoder.megabytes:
        return encoder.name
    folder = encoder_folder(name)
    if folder is None:
        raise InputError(
            f"{encoder.title} is not on this machine (about {encoder.megabytes:,} MB). "
            f"Download it first: glossa encoders --download {name}"
        )
    return str(folder)


def own_encoder(path: str) -> str:
    """Return a folder of one's own as `encoder_name`; InputError unless it holds an encoder."""
    folder = Path(path.strip()).expanduser()
    if not path.strip() or not folder.is_dir():
        raise InputError(f'"{path[:80]}" is no folder on this machine. Name the folder of a model')
    if not (folder / "config.json").is_file():
        raise InputError(
            f"{folder} is not the folder of a Hugging Face model: it holds no config.json. "
            "Name the folder that save_pretrained wrote"
        )
    if not any((folder / name).is_file() for name in _WEIGHTS):
        raise InputError(
            f"{folder} holds no safetensors weights. Save the model again with save_pretrained"
        )
    return str(folder.resolve())


def download_encoder(name: str, on_bytes: OnBytes | None = None) -> Path:
    """Download an encoder of the menu into the data folder, whole or not at all.

    `on_bytes` hears how many bytes are here, and of how many. What is here already is kept.
    """
    encoder = _of_menu(name)
    if not encoder.megabytes:
        raise InputError(f"{encoder.title} comes with Glossa; there is nothing to download")
    if folder := encoder_folder(name):
        return folder
    files, revision = _files_of(encoder)
    home = data_folder() / ENCODERS
    part = home / f".{encoder.slug}.{process_mark()}.part"
    total = sum(files.values())
    try:
        home.mkdir(exist_ok=True)
        _sweep(home)
        if shutil.disk_usage(home).free < total + _SPARE:
            raise InputError(
                f"{encoder.title} needs {total / 1e6:,.0f} MB, and {home} has less room. "
                "Free some space, or set GLOSSA_DATA to another disk"
            )
        part.mkdir()
        with _watched(part, total, on_bytes):
            for file in files:
                _fetch(encoder, file, revision, part)
        shutil.rmtree(part / ".cache", ignore_errors=True)
        os.replace(part, home / encoder.slug)
    except OSError as error:
        raise write_error(home, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return home / encoder.slug


def _of_menu(name: str) -> KnownEncoder:
    encoder = known_encoder(name)
    if encoder is None:
        names = ", ".join(encoder.name for encoder in ENCODER_MENU)
        raise InputError(f'"{name[:80]}" is not in the menu; choose one of {names}')
    return encoder


def _sweep(home: Path) -> None:
    """Delete what killed downloads left behind."""
    for path in home.glob(".*.part"):
        if is_left_behind(path):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _watched(part: Path, total: int, on_bytes: OnBytes | None) -> Iterator[None]:
    """Report how many bytes are in the folder, until all are there."""
    if on_bytes is None:
        yield
        return
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            on_bytes(min(_size(part), total), total)

    watcher = threading.Thread(target=watch, name="download", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
    on_bytes(total, total)


def _size(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # a file may be renamed meanwhile
            size += path.stat().st_size if path.is_file() else 0
    return size


# ---- Hugging Face ---------------------------------------------------------------------------


def _files_of(encoder: KnownEncoder) -> tuple[dict[str, int], str]:
    """Return the files to download with their sizes, and the revision; weights come last."""
    info = _asked(encoder, lambda api: api.model_info(
        encoder.name, files_metadata=True, timeout=_SECONDS_TO_ANSWER
    ))  # fmt: skip
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    weights = [name for name in sizes if name in _WEIGHTS]
    if _WEIGHTS[1] in weights and _WEIGHTS[0] not in weights:
        weights += [n for n in sizes if n.startswith("model-") and n.endswith(".safetensors")]
    if not weights or "config.json" not in sizes:
        raise InputError(
            f"{encoder.name} on Hugging Face has no safetensors weights any more. "
            "Choose another encoder"
        )
    wanted = [name for name in _FILES if name in sizes] + weights
    return {name: sizes[name] for name in wanted}, str(info.sha)


def _fetch(encoder: KnownEncoder, file: str, revision: str, part: Path) -> None:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    disable_progress_bars()
    _asked(
        encoder,
        lambda _: hf_hub_download(encoder.name, file, revision=revision, local_dir=part),
    )


def _asked(encoder: KnownEncoder, ask: Callable[[Any], Any]) -> Any:
    """Return the answer of Hugging Face; InputError says why there is none."""
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import (  # type: ignore[attr-defined]
            HfHubHTTPError,
            HTTPError,
            LocalEntryNotFoundError,
            OfflineModeIsEnabled,
        )
    except ModuleNotFoundError:
        raise InputError(
            "downloads need huggingface_hub, which is not installed. "
            'Run: pip install "glossa[train]"'
        ) from None
    try:
        return ask(HfApi())
    except HfHubHTTPError as error:
        reason = one_line(str(error))[:120]
        raise InputError(
            f"Hugging Face refused {encoder.name} ({reason}). Try again later, or choose another "
            "encoder"
        ) from error
    except (HTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, ConnectionError) as error:
        raise InputError(
            f"{encoder.title} cannot be downloaded: Hugging Face does not answer. Connect to the "
            "network and try again, choose MiniLM, or name a folder that holds the model"
        ) from error


# ---- a download that the app watches --------------------------------------------------------


def note_progress(name: str, record: dict[str, Any]) -> None:
    """Write how far a download is, for the page that started it."""
    home = data_folder() / ENCODERS
    home.mkdir(exist_ok=True)
    with written_whole(home / f"{_of_menu(name).slug}.{_PROGRESS}", is_synced=False) as out:
        out.write(json.dumps(record).encode())


def read_progress(name: str) -> dict[str, Any]:
    """Return what was noted last about a download; empty if nothing was."""
    try:
        path = data_folder() / ENCODERS / f"{_of_menu(name).slug}.{_PROGRESS}"
        record = json.loads(path.read_bytes())
        age = time.time() - path.stat().st_mtime
    except (OSError, ValueError):
        return {}
    if not isinstance(record, dict):
        return {}
    if "total" in record and age > _SILENT_SECONDS:
        return {"error": "the download was interrupted. Start it again"}
    return record
