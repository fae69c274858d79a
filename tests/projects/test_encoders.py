"""The menu of transformers: what is offered, and downloading it from a hub made here."""

import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub.errors import HTTPError

import glossa
from engine.cli.command_line import main
from engine.network.encoders import load_encoder
from engine.planning import ENCODER_MENU
from engine.projects import encoders
from engine.projects.encoders import (
    chosen_encoder,
    download_encoder,
    encoder_folder,
    knows_language,
    note_progress,
    own_encoder,
    read_progress,
)
from engine.projects.workspace import create_project, list_projects
from engine.settings import LANGUAGES
from engine.text.model import InputError
from tests.support.tiny_encoders import save_tiny_bert

BERT = "google-bert/bert-base-cased"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOSSA_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_bert(tmp_path_factory.mktemp("model"))
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    (folder / "modeling.py").write_text("raise SystemExit")
    return folder


@pytest.fixture
def hub(model, monkeypatch):
    """A hub that holds one model, in place of Hugging Face."""
    files = {path.name: path.stat().st_size for path in model.iterdir()}
    fetched = []

    def model_info(self, name, *, files_metadata, timeout):
        siblings = [SimpleNamespace(rfilename=n, size=s) for n, s in files.items()]
        return SimpleNamespace(siblings=siblings, sha="abc")

    def fetch(name, file, *, revision, local_dir):
        assert revision == "abc"
        fetched.append(file)
        shutil.copyfile(model / file, Path(local_dir) / file)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fetch)
    return SimpleNamespace(files=files, fetched=fetched)


def test_the_menu_has_the_offline_default_first_and_every_field():
    first, *others = ENCODER_MENU
    assert first.name == "minilm" and first.megabytes == 0
    assert all(encoder.megabytes > 100 and encoder.license for encoder in others)
    fields = " ".join(encoder.field + encoder.languages for encoder in ENCODER_MENU)
    assert "biomedical" in fields and "100 languages" in fields and "letter case" in fields
    assert len({encoder.slug for encoder in ENCODER_MENU}) == len(ENCODER_MENU)


def test_a_download_is_kept_in_the_data_folder_and_can_be_loaded(data, hub):
    assert encoder_folder(BERT) is None
    heard = []
    folder = download_encoder(BERT, lambda done, total: heard.append((done, total)))
    assert folder == encoder_folder(BERT) == data / ".encoders" / "google-bert--bert-base-cased"
    wanted = {n: s for n, s in hub.files.items() if not n.endswith((".bin", ".py"))}
    assert set(hub.fetched) == set(wanted) and hub.fetched[-1] == "model.safetensors"
    assert heard[-1] == (sum(wanted.values()), sum(wanted.values()))
    encoder, tokenizer = load_encoder(chosen_encoder(BERT))
    assert encoder.config.hidden_size == 16 and tokenizer.pad_token == "[PAD]"
    download_encoder(BERT)
    assert len(hub.fetched) == len(wanted)  # nothing again
    assert list_projects() == [] or all(p.id != ".encoders" for p in list_projects())


def test_an_interrupted_download_leaves_nothing(data, hub, monkeypatch):
    def fail(name, file, *, revision, local_dir):
        raise HTTPError("gone")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
    with pytest.raises(InputError, match="Hugging Face does not answer"):
        download_encoder(BERT)
    assert encoder_folder(BERT) is None and list((data / ".encoders").iterdir()) == []


def test_offline_one_sentence_says_what_to_do(data, monkeypatch, capsys):
    def fail(*_, **__):
        raise HTTPError("no route")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", fail)
    assert main(["encoders", "--download", BERT]) == 2
    assert capsys.readouterr().err == (
        "glossa encoders: BERT, cased cannot be downloaded: Hugging Face does not answer. Connect "
        "to the network and try again, choose MiniLM, or name a folder that holds the model.\n"
    )


def test_a_model_without_safetensors_is_refused(data, hub):
    del hub.files["model.safetensors"]
    with pytest.raises(InputError, match="has no safetensors weights any more"):
        download_encoder(BERT)


def test_a_full_disk_is_noticed_before_the_download(data, hub, monkeypatch):
    monkeypatch.setattr(encoders.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match=r"^BERT, cased needs 0 MB, and .* has less room"):
        download_encoder(BERT)
    assert hub.fetched == []


@pytest.mark.usefixtures("data")
def test_names_outside_the_menu_are_refused():
    for name in ("minilm", "../../etc", "some/model"):
        with pytest.raises(InputError, match=r"nothing to download|is not in the menu"):
            download_encoder(name)
    assert chosen_encoder("minilm") == "minilm"
    with pytest.raises(InputError, match=f"Download it first: glossa encoders --download {BERT}"):
        chosen_encoder(BERT)


def test_a_folder_of_ones_own_is_checked(model, tmp_path):
    assert own_encoder(f" {model} ") == str(model.resolve())
    with pytest.raises(InputError, match="is no folder on this machine"):
        own_encoder("/nowhere")
    with pytest.raises(InputError, match=r"it holds no config\.json"):
        own_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="holds no safetensors weights"):
        own_encoder(str(tmp_path))


def test_the_command_lists_the_menu_and_training_takes_what_was_downloaded(data, hub, capsys):
    assert main(["encoders", "--download", BERT, "--note"]) == 0
    assert read_progress(BERT) == {}
    assert main(["encoders"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [line] = [line for line in lines if line.startswith(f"{BERT}  ")]
    assert line.split()[-1] == "yes" and "Apache-2.0" in line
    from engine.cli.options import parse_changes

    options = SimpleNamespace(set=[f"encoder_name={BERT}"])
    assert parse_changes(options) == {"encoder_name": str(encoder_folder(BERT))}
    options = SimpleNamespace(set=["encoder_name=other/model"])
    assert parse_changes(options) == {"encoder_name": "other/model"}


def test_progress_is_noted_for_the_page(data, hub, monkeypatch):
    noted = []
    monkeypatch.setattr("engine.cli.encoders.note_progress", lambda n, r: noted.append(r))
    assert main(["encoders", "--download", BERT, "--note"]) == 0
    assert noted[-1] == {} and noted[-2]["done"] == noted[-2]["total"] > 0


def test_a_download_that_says_nothing_more_is_over(data):
    note_progress(BERT, {"done": 1, "total": 10})
    assert read_progress(BERT) == {"done": 1, "total": 10}
    path = data / ".encoders" / "google-bert--bert-base-cased.progress.json"
    assert json.loads(path.read_text())["total"] == 10
    os.utime(path, (time.time() - 1000,) * 2)
    assert read_progress(BERT) == {"error": "the download was interrupted. Start it again"}
    path.write_text("[")
    assert read_progress(BERT) == {}


# ---- languages ------------------------------------------------------------------------------


def known(code):
    return {encoder.name for encoder in ENCODER_MENU if knows_language(encoder, code)}


def test_sizes_are_those_of_weights_and_tokenizer():
    for encoder in ENCODER_MENU[1:]:
        weights = 4 * encoder.parameters  # MB: float32
        assert weights - 4 <= encoder.megabytes <= 1.03 * weights, encoder.title


def test_every_encoder_says_which_languages_it_knows():
    everything = {encoder.name for encoder in ENCODER_MENU}
    assert known("en") == everything
    multilingual = {"distilbert/distilbert-base-multilingual-cased", "FacebookAI/xlm-roberta-base"}
    assert all(known(code) == multilingual for code in LANGUAGES if code != "en")


def test_the_command_says_which_encoders_know_a_language(data, capsys):
    project = create_project("Deutsch")
    project.set_language("de")
    for choice in (["--language", "de"], ["--project", project.id]):
        assert main(["encoders", *choice]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        column = head.index("German")
        rows = [line for line in lines if "/" in line]
        marks = {row.split()[0]: row[column : column + 3].strip() for row in rows}
        assert marks[BERT] == "no" and marks["FacebookAI/xlm-roberta-base"] == "yes"
    assert main(["encoders"]) == 0
    printed = capsys.readouterr().out
    assert "German" not in printed
    assert "XLM-RoBERTa: Fine-tuning it takes about 4 GB of memory and wants a GPU." in printed
    assert main(["encoders", "--project", "nowhere"]) == 2


def test_python_has_the_menu_and_the_download(data, hub):
    table = glossa.encoders(language="de").set_index("name")
    assert list(table["is_here"]) == [True] + [False] * (len(ENCODER_MENU) - 1)
    assert set(table.index[table["knows_language"]]) == known("de")
    assert "knows_language" not in glossa.encoders()
    assert table["needs"]["minilm"].endswith("is fast enough on a CPU.")
    folder = glossa.download_encoder(BERT)
    assert folder == encoder_folder(BERT)
    assert glossa.encoders().set_index("name")["is_here"][BERT]
    with pytest.raises(InputError, match=r'^"xx" is not a language; choose one of en, de'):
        glossa.encoders("xx")
    from engine.library import _settings

    assert _settings("quick", "bilstm", {"encoder_name": BERT}).encoder_name == str(folder)
