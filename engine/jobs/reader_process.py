"""The process that reads uploaded files: one task, within its limits, then it ends.

It is started by `reader` as `python -m engine.jobs.reader_process FOLDER` and answers with lines of
JSON on standard output: how far it is, and at the end a result, an error, or the limit it reached.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from engine.dictionaries import Dictionary, retype
from engine.files import GivenFile, path_source
from engine.formats import read_corpus
from engine.jobs.reader import TASK
from engine.projects import (
    Project,
    check_upload,
    chosen_from,
    import_project_zip,
    kept_entries,
    preview_dictionary_files,
    preview_gold_files,
    preview_record,
    preview_text,
    save_upload,
    upload_health_record,
)
from engine.settings import ReadOptions
from engine.system import watched
from engine.text import InputError, in_language

_REPORT_SECONDS = 0.3
_LAST_SHARE = 0.95  # of the bar, when all text is read: it is still to be stored
_SPARE_MB = 1_000  # of address space, which libraries reserve and do not use
_SAVES = frozenset(
    ("save_text", "save_gold", "save_dictionaries", "save_opinion", "import_project")
)

Files = Sequence[GivenFile]
Types = Sequence[tuple[str, str, str]]  # a dictionary's name, a type in it, the type to save it as


# ---- what it can do ---------------------------------------------------------------------------


def _preview_text(project: Project, files: Files, options: ReadOptions) -> Any:
    return preview_record(preview_text(project.folder, files, options))


def _preview_gold(project: Project, files: Files, options: ReadOptions) -> Any:
    return preview_record(preview_gold_files(project.folder, files, options))


def _preview_dictionaries(
    project: Project, files: Files, options: ReadOptions, entity_type: str
) -> Any:
    preview = preview_dictionary_files(project.folder, files, options, entity_type)
    return preview_record(preview)


def _check_dictionaries(
    project: Project,
    files: Files,
    options: ReadOptions,
    entity_type: str,
    types: Types,
    is_replacing: bool,
) -> Any:
    new = _read_as(project, files, options, entity_type, types)
    documents = project.corpus().documents if project.text_key() else ()
    with in_language(project.language()):
        health = check_upload(
            new,
            project.dictionaries(),
            documents,
            project.match_preset(),
            is_replacing=is_replacing,
            kept=kept_entries(project),
        )
    return upload_health_record(health)


def _save_text(project: Project, files: Files, options: ReadOptions) -> Any:
    before = {file.id for file in project.text_files()}
    notes = project.add_text(files, options)
    added = [file for file in project.text_files() if file.id not in before]
    return {
        "notes": notes,
        "files": len(added),
        "sentences": sum(file.sentences for file in added),
    }


def _save_gold(project: Project, files: Files, options: ReadOptions) -> Any:
    notes = project.set_gold(files, options)
    gold = project.gold(project.corpus())
    return {"notes": notes, "documents": len(gold.entities) if gold else 0}


def _save_dictionaries(
    project: Project,
    files: Files,
    options: ReadOptions,
    entity_type: str,
    types: Types,
    is_replacing: bool,
    chosen: Sequence[Sequence[Any]] = (),
) -> Any:
    new = _read_as(project, files, options, entity_type, types, is_last=True)
    added = save_upload(project, new, chosen_from(chosen), is_replacing=is_replacing)
    return {
        "names": [dictionary.name for dictionary in added],
        "phrases": sum(len(dictionary.phrases) for dictionary in added),
    }


def _read_as(
    project: Project,
    files: Files,
    options: ReadOptions,
    entity_type: str,
    types: Types,
    *,
    is_last: bool = False,
) -> list[Dictionary]:
    """Return the dictionaries in the files under the types that a person gave them.

    They are not read again if the preview read them; `is_last` says that they are saved now.
    """
    preview = preview_dictionary_files(project.folder, files, options, entity_type, is_last=is_last)
    return retype(preview.read or (), {(name, old): wanted for name, old, wanted in types})


def _save_opinion(project: Project, files: Files, options: ReadOptions, name: str) -> Any:
    notes = project.add_opinion(name, files, options)
    clean = " ".join(name.split())
    entities = next(o.entities for o in project.opinions() if o.name == clean)
    return {"notes": notes, "name": clean, "entities": entities}


def _read_for_prediction(project: Project, files: Files, options: ReadOptions) -> Any:
    read_corpus(files, options)
    return {}


def _import_project(project: Project, files: Files, options: ReadOptions, owner: str | None) -> Any:
    with files[0].open() as stream:
        return {"project": import_project_zip(stream.read(), owner).id}


TASKS: Mapping[str, Callable[..., Any]] = {
    "preview_text": _preview_text,
    "preview_gold": _preview_gold,
    "preview_dictionaries": _preview_dictionaries,
    "check_dictionaries": _check_dictionaries,
    "save_text": _save_text,
    "save_gold": _save_gold,
    "save_dictionaries": _save_dictionaries,
    "save_opinion": _save_opinion,
    "read_for_prediction": _read_for_prediction,
    "import_project": _import_project,
}


# ---- how it runs ------------------------------------------------------------------------------


class _Stopped(InputError):
    """The process is to stop; readers tidy up as they do after any bad file."""


class _Progress:
    """How much has been read; the place where a request to stop takes effect.

    A signal only leaves a note. What a signal interrupts may be the very moment at which the
    project is changed.
    """

    def __init__(self, expected: int, *, is_saving: bool) -> None:
        self.stopped = ""
        self._expected, self._done, self._reported = max(1, expected), 0, 0.0
        self._is_saving = is_saving

    def stop(self, why: str) -> None:
        self.stopped = self.stopped or why

    def advance(self, amount: int) -> None:
        if self.stopped:
            raise _Stopped(self.stopped)
        self._done += amount
        if (now := time.monotonic()) - self._reported > _REPORT_SECONDS:
            self._reported = now
            share = min(_LAST_SHARE, self._done / self._expected)
            self.tell({"share": round(share, 3), "step": "Reading"})

    def tell(self, record: Mapping[str, Any]) -> None:
        try:
            sys.stdout.write(f"{json.dumps(record)}\n")
            sys.stdout.flush()
        except OSError:  # the server is gone; only a change of the project is worth finishing
            if not self._is_saving:
                os._exit(1)


def main(folder: Path) -> int:
    """Do the task in this folder."""
    task = json.loads((folder / TASK).read_text(encoding="utf-8"))
    files = [path_source(folder / str(i), name=name) for i, name in enumerate(task["names"])]
    # Text is walked through twice: for sentences and for tokens.
    expected = 2 * sum(file.size for file in files)
    progress = _Progress(expected, is_saving=task["task"] in _SAVES)
    _limit(progress, **task["limits"])
    project = Project(Path(task["folder"]).name, Path(task["folder"]))
    progress.tell({"share": 0.0, "step": "Reading"})
    try:
        with watched(progress.advance):
            result = TASKS[task["task"]](
                project, files, ReadOptions(**task["options"]), **task["more"]
            )
    except _Stopped:
        progress.tell({"limit": progress.stopped})
        return 1
    except InputError as error:
        progress.tell({"error": str(error), "fixes": error.fixes})
        return 1
    except MemoryError:
        progress.tell({"limit": "memory"})
        return 1
    progress.tell({"share": 1.0, "result": result})
    return 0


def _limit(progress: _Progress, *, cpu_seconds: int, memory_mb: int, **_: int) -> None:
    """Set the limits, as far as this system has them.

    Whoever started this process watches its memory. The limit here is wider: it is for what grows
    faster than anyone looks.
    """
    signal.signal(signal.SIGTERM, lambda *_: progress.stop("cancelled"))
    try:
        import resource
    except ImportError:  # Windows
        return
    signal.signal(signal.SIGXCPU, lambda *_: progress.stop("time"))
    room = (2 * memory_mb + _SPARE_MB) * 1_000_000
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 10),
        (resource.RLIMIT_AS, room, room),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        with suppress(OSError, ValueError):  # a stricter limit is in force, or none is possible
            resource.setrlimit(kind, (soft, hard))


def _run() -> NoReturn:
    os._exit(main(Path(sys.argv[1])))  # without taking down millions of objects one by one


if __name__ == "__main__":
    _run()
