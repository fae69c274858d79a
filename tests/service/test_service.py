"""The HTTP service, as a real server on a free port."""

import http.client
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import glossa
from engine.cli import serve as serve_cli
from engine.cli.command_line import main
from engine.experiment import predict
from engine.runs.saved import load_run
from engine.service import web
from engine.text.tokenization import make_document
from tests.support.untrained_runs import DOCUMENTS, PLAIN, TEXTS, save_untrained
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
TOKEN = "a secret of the tests"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return save_untrained(tmp_path_factory.mktemp("runs") / "mpn-seed0", PLAIN)


@pytest.fixture(scope="module")
def port(run, tmp_path_factory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "engine", "serve", str(run), "--port", str(port)]
    log = tmp_path_factory.mktemp("log") / "log.txt"
    environment = {**os.environ, "GLOSSA_TOKEN": TOKEN, "OMP_NUM_THREADS": "1"}
    with log.open("wb") as out:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
        try:
            wait_until(lambda: answers(port) or server.poll() is not None, "the service answers")
            assert server.poll() is None, log.read_text()
            yield port
        finally:
            server.terminate()
            server.wait(30)


def answers(port):
    try:
        return ask(port, "GET", "/health")[0] == 200
    except OSError:
        return False


def ask(port, verb, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    given = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    connection.request(verb, path, data, {k: v for k, v in given.items() if v is not None})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def test_texts_get_the_entities_of_predict(port, run):
    status, answer = ask(port, "POST", "/entities", {"texts": TEXTS, "ids": ["a", "a", "c"]})
    assert status == 200
    assert [document["id"] for document in answer["documents"]] == ["a", "a", "c"]
    expected = predict(load_run(run), DOCUMENTS)
    for document, given in zip(DOCUMENTS, answer["documents"], strict=True):
        assert [(e["start"], e["end"], e["label"], e["text"]) for e in given["entities"]] == [
            (e.start, e.end, e.entity_type, document.text[e.start : e.end])
            for e in expected[document.id]
        ]
    assert any(given["entities"] for given in answer["documents"])


def test_one_text_and_a_least_score(port, run):
    [all_found] = ask(port, "POST", "/entities", {"text": TEXTS[0]})[1]["documents"]
    scores = sorted(entity["score"] for entity in all_found["entities"])
    asked = {"text": TEXTS[0], "least_score": scores[-1]}
    [best] = ask(port, "POST", "/entities", asked)[1]["documents"]
    assert [entity["score"] for entity in best["entities"]] == scores[-1:]
    assert predict(load_run(run), [make_document("0", TEXTS[0])])["0"]


def test_health_needs_no_token_and_names_the_run(port):
    status, answer = ask(port, "GET", "/health", Authorization=None)
    assert status == 200
    assert answer["run"] == "mpn-seed0" and answer["types"] == ["Chemical", "Disease"]


def test_it_describes_itself(port):
    status, answer = ask(port, "GET", "/openapi.json")
    assert status == 200 and set(answer["paths"]) == {"/health", "/entities"}
    assert answer["info"]["title"] == "Glossa"


@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}", "Bearer"])
def test_without_the_token_nothing_is_answered(port, header):
    for verb, path in (("POST", "/entities"), ("GET", "/openapi.json")):
        status, answer = ask(port, verb, path, {"text": "x"}, Authorization=header)
        assert (status, answer) == (
            401,
            {"detail": "This service needs its token: Authorization: Bearer TOKEN."},
        )


def test_another_host_name_is_refused(port):
    status, answer = ask(port, "GET", "/health", Host="evil.example")
    assert status == 403 and "does not answer to this host name" in answer["detail"]


TOO_LARGE = (
    "A request may hold 10 MB. Send the texts in several requests, or use glossa predict for large "
    "files."
)


def test_100_mb_are_refused_in_one_sentence(port):
    status, answer = ask(port, "POST", "/entities", bytes(100_000_000))
    assert (status, answer) == (413, {"detail": TOO_LARGE})


def test_a_body_without_a_length_is_refused_at_the_limit(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    blocks = (bytes(1_000_000) for _ in range(12))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    connection.request("POST", "/entities", blocks, headers, encode_chunked=True)
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())) == (413, {"detail": TOO_LARGE})
    connection.close()
    assert ask(port, "GET", "/health")[0] == 200


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, 'send either "text" or "texts", as in {"text": "He had gout."}.'),
        ({"text": "a", "texts": ["b"]}, 'send either "text" or "texts"'),
        ({"texts": ["a"], "ids": []}, "there are 1 texts and 0 ids. Send as many."),
        ({"texts": "a"}, "texts: Input should be a valid list."),
        ({"text": 7}, "text: Input should be a valid string."),
        ({"text": "a", "least_score": 2}, "least_score: Input should be less than or equal to 1."),
        (b"{broken", "JSON decode error."),
        (b"[" * 100_000, ""),
    ],
)
def test_bad_requests_have_one_sentence(port, body, sentence):
    status, answer = ask(port, "POST", "/entities", body)
    assert status in (400, 422), answer
    assert isinstance(answer["detail"], str) and "\n" not in answer["detail"]
    assert sentence in answer["detail"]


def test_a_form_of_a_web_page_is_no_question(port):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    status, answer = ask(port, "POST", "/entities", {"text": "a"}, **kind)
    assert (status, answer["detail"]) == (
        422,
        "Send JSON, with the header Content-Type: application/json.",
    )


# ---- starting -------------------------------------------------------------------------------


@pytest.fixture
def no_server(monkeypatch):
    def fail(*_, **__):
        raise AssertionError("it must not start")

    monkeypatch.setattr(serve_cli, "serve", fail)


@pytest.mark.usefixtures("no_server")
@pytest.mark.parametrize(
    ("arguments", "token", "message"),
    [
        (["--address", "0.0.0.0"], None, "at 0.0.0.0 others could use the tagger without a token"),
        (["--host-name", "a.example"], None, "at a.example others could use the tagger"),
        ([], "short", "GLOSSA_TOKEN needs at least 8 characters"),
    ],
)
def test_it_refuses_to_let_others_in_without_a_token(
    run, capsys, monkeypatch, arguments, token, message
):
    monkeypatch.delenv("GLOSSA_TOKEN", raising=False)
    if token:
        monkeypatch.setenv("GLOSSA_TOKEN", token)
    assert main(["serve", str(run), *arguments]) == 2
    assert f"glossa serve: {message}" in capsys.readouterr().err


def test_open_and_a_token_let_others_in(run, monkeypatch, capsys):
    started = []
    monkeypatch.setattr(serve_cli, "serve", lambda *a, **k: started.append(k["address"]))
    monkeypatch.delenv("GLOSSA_TOKEN", raising=False)
    assert main(["serve", str(run), "--address", "0.0.0.0", "--open"]) == 0
    monkeypatch.setenv("GLOSSA_TOKEN", TOKEN)
    assert main(["serve", str(run), "--address", "::"]) == 0
    assert started == ["0.0.0.0", "::"]
    assert "http://[::]:8600/entities" in capsys.readouterr().out


@pytest.mark.usefixtures("no_server")
def test_without_fastapi_one_sentence_says_what_to_install(run, monkeypatch, capsys):
    monkeypatch.setattr(web, "find_spec", lambda name: None)
    assert main(["serve", str(run)]) == 2
    assert capsys.readouterr().err == (
        "glossa serve: the service needs fastapi and uvicorn, which is not installed. "
        'Run: pip install "glossa[serve]".\n'
    )


def test_python_serves_a_run_as_the_command_does(run, monkeypatch):
    import uvicorn

    started = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: started.append((app, options)))
    monkeypatch.delenv("GLOSSA_TOKEN", raising=False)
    glossa.serve(run, port=8700, most_mb=3)
    [(gate, options)] = started
    assert isinstance(gate, web.Gate)
    assert (options["host"], options["port"]) == ("localhost", 8700)
    with pytest.raises(glossa.InputError, match=r"^at 0\.0\.0\.0 others could use the tagger"):
        glossa.serve(run, address="0.0.0.0")
    with pytest.raises(glossa.InputError, match="is not a finished run"):
        glossa.serve(run.parent)
    monkeypatch.setattr(web, "find_spec", lambda name: None)
    with pytest.raises(glossa.InputError, match=r'pip install "glossa\[serve\]"$'):
        glossa.serve(run)
    assert len(started) == 1
