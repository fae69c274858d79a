"""The HTTP service of a run: POST /entities with texts, GET /health, GET /openapi.json.

FastAPI is imported when a service is made, not before: it is an optional extra.
"""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.experiment import Run, predict
from engine.run_folder import Card, glossa_version, read_card
from engine.runs import load_run
from engine.service.access import (
    THIS_MACHINE,
    Gate,
    check_address,
    service_token,
)
from engine.text import Document, Entity, InputError, make_document

MOST_MB = 10  # of one request
_MOST_TEXTS = 10_000


def serve(
    folder: Path,
    *,
    address: str = "localhost",
    port: int = 8600,
    host_names: Sequence[str] = (),
    is_open: bool = False,
    is_trusted: bool = False,
    most_mb: int = MOST_MB,
) -> None:
    """Serve the run in `folder` until it is stopped."""
    check_packages()
    token = service_token()
    check_address(address, host_names, token, is_open=is_open)
    app = make_service(
        load_run(folder, is_trusted=is_trusted), read_card(folder), folder.name, most_mb=most_mb
    )
    hosts = {*THIS_MACHINE, address.strip("[]").lower(), *(name.lower() for name in host_names)}
    import uvicorn

    gate = Gate(app, frozenset(hosts), token, most_mb * 1_000_000)
    uvicorn.run(gate, host=address.strip("[]"), port=port, log_level="warning")


def check_packages() -> None:
    """Raise InputError if what the service needs is not installed."""
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the service needs {' and '.join(missing)}, which is not installed. "
            'Run: pip install "glossa[serve]"'
        )


def make_service(trained: Run, card: Card, name: str, *, most_mb: int = MOST_MB) -> Any:
    """Return the service as an ASGI application, without the gate before it."""
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from pydantic import BaseModel, Field

    class Question(BaseModel):
        """One text, or several; each may have an id."""

        text: str | None = Field(None, description="one text", examples=["He had gout."])
        texts: list[str] | None = Field(
            None, description="several texts", max_length=_MOST_TEXTS, examples=[["He had gout."]]
        )
        ids: list[str] | None = Field(None, description="one id per text; default: 0, 1, …")
        least_score: float = Field(0.0, ge=0, le=1, description="leave out what scores less")

    class Found(BaseModel):
        """An entity: characters `start` to `end` of its text, the end not included."""

        start: int
        end: int
        text: str
        label: str
        score: float | None

    class Answered(BaseModel):
        """The entities of one text, in its order."""

        id: str
        entities: list[Found]

    class Answer(BaseModel):
        """What was found in each text, in the order of the question."""

        documents: list[Answered]

    class Health(BaseModel):
        """Whether the service answers, and which run it serves."""

        status: str
        run: str
        method: str
        types: list[str]
        glossa: str

    app = FastAPI(
        title="Glossa",
        version=glossa_version(),
        description=f"Finds {', '.join(card.types)} in texts, with the run {name}. "
        f"A request may hold {most_mb:,} MB.",
        docs_url=None,  # these pages would load scripts from elsewhere; /openapi.json stays
        redoc_url=None,
    )
    # Predictions use all threads of torch; two at once would take longer than one after the other.
    turn = threading.Lock()

    @app.get("/health")
    def health() -> Health:
        return Health(
            status="ok",
            run=name,
            method=card.method,
            types=list(card.types),
            glossa=glossa_version(),
        )

    @app.post("/entities")
    def entities(question: Question) -> Answer:
        texts = _texts(question.text, question.texts)
        ids = question.ids if question.ids is not None else [str(i) for i in range(len(texts))]
        if len(ids) != len(texts):
            raise InputError(f"there are {len(texts):,} texts and {len(ids):,} ids. Send as many")
        # Ids may repeat, so the texts are numbered here.
        documents = [make_document(str(i), text) for i, text in enumerate(texts)]
        with turn:
            predicted = predict(trained, documents, name)
        return Answer(
            documents=[
                Answered(id=id, entities=_listed(Found, document, predicted, question.least_score))
                for id, document in zip(ids, documents, strict=True)
            ]
        )

    @app.exception_handler(InputError)
    def bad_input(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": f"{error}."}, 422)

    @app.exception_handler(RequestValidationError)
    def bad_request(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        if "json" not in request.headers.get("content-type", ""):
            sentence = "Send JSON, with the header Content-Type: application/json."
            return JSONResponse({"detail": sentence}, 422)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body") or "the request"
        return JSONResponse({"detail": f"{place}: {first['msg']}."}, 422)

    return app


def _texts(text: str | None, texts: list[str] | None) -> list[str]:
    if (text is None) == (texts is None):
        raise InputError('send either "text" or "texts", as in {"text": "He had gout."}')
    return [text] if text is not None else list(texts or ())


def _listed(
    make: Any, document: Document, predicted: dict[str, tuple[Entity, ...]], least: float
) -> list[Any]:
    return [
        make(
            start=entity.start,
            end=entity.end,
            text=document.text[entity.start : entity.end],
            label=entity.entity_type,
            score=entity.score,
        )
        for entity in predicted[document.id]
        if entity.score is None or entity.score >= least
    ]
