import json
import os
import pickletools
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.dictionaries.model import Dictionary, Phrase, fingerprint
from engine.experiment import probabilities, run
from engine.network.encoders import MINILM
from engine.network.features import Lexicon
from engine.network.vectors import vectors_fingerprint
from engine.run_folder.card import read_card
from engine.run_folder.origin import allow, mark_imported, names_elsewhere
from engine.runs import saved as saved_runs
from engine.runs.saved import data_fingerprint, is_finished_run, load_run, save_run, write_scores
from engine.settings import MatchOptions
from engine.text.model import InputError
from tests.support.planted import SMALL, TYPES, Planted
from tests.support.tiny_encoders import save_tiny_bert

ROOT = Path(__file__).parents[2]
PREDICT = """
import sys
from pathlib import Path
import numpy as np
from engine.experiment import probabilities
from engine.runs import load_run
folder, out = sys.argv[1:]
sentences = [line.split(" ") for line in sys.stdin.read().splitlines()]
np.save(out, probabilities(load_run(Path(folder)), sentences))
"""


pytestmark = pytest.mark.usefixtures("one_thread")


def with_lexicon(planted):
    """The planted data with the dictionaries as a lexicon, one of them switched off."""
    phrases = tuple(
        Phrase(name, entity_type)
        for entity_type, names in planted.names.items()
        for name in names
        if name in planted.known
    )
    used = Dictionary("names", phrases, muted=frozenset({(phrases[0].text, "Drug")}))
    unused = Dictionary("common words", (Phrase("patient", "Drug"),), is_enabled=False)
    lexicon = Lexicon((used, unused), MatchOptions(), TYPES, tokens_given=True)
    return replace(planted.data, lexicon=lexicon)


@pytest.fixture(scope="module")
def planted():
    return Planted(sentence_count=60)


@pytest.fixture(scope="module")
def data(planted):
    return with_lexicon(planted)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A small file of word vectors: GloVe takes two seconds to load, and many tests load it."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    path.write_text("the 0.1 0.2 0.3\npatient -0.5 0.0 1.5\nsigns 2.0 -1.0 0.5\n")
    return path


@pytest.fixture(scope="module")
def trained(planted, data, vectors):
    settings = replace(SMALL, word_vectors=str(vectors), is_prior_matched=True)
    return run(data, planted.priors, settings)


@pytest.fixture(scope="module")
def saved(tmp_path_factory, trained, data):
    folder = tmp_path_factory.mktemp("runs") / "conf_mpu-seed0"
    save_run(
        folder, trained, data=data, dictionaries=data.lexicon.dictionaries, scores={"dev": 0.5}
    )
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(saved, tmp_path / "copy")


def refusal(folder):
    with pytest.raises(InputError) as caught:
        load_run(folder)
    return str(caught.value)


def change_card(folder, **changes):
    card = folder / "run.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | changes))


def drop_from_card(folder, key):
    card = folder / "run.json"
    card.write_text(json.dumps({k: v for k, v in json.loads(card.read_text()).items() if k != key}))


# ---- there and back -------------------------------------------------------------------------


def test_a_moved_run_predicts_the_same_in_a_fresh_process(planted, trained, folder, tmp_path):
    moved = folder.rename(tmp_path / "somewhere else")
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-W", "error", "-c", PREDICT, str(moved), str(tmp_path / "probs.npy")],
        input="\n".join(" ".join(tokens) for tokens in planted.sentences),
        text=True,
        check=True,
        cwd=tmp_path,
        env=environment,
    )
    expected = probabilities(trained, planted.sentences)
    np.testing.assert_allclose(np.load(tmp_path / "probs.npy"), expected, rtol=0, atol=1e-6)


def test_a_loaded_run_is_the_run_that_was_saved(trained, saved):
    loaded = load_run(saved)
    assert loaded.settings == trained.settings
    assert loaded.types == trained.types
    assert loaded.priors.tolist() == trained.priors.tolist()
    assert loaded.history == trained.history
    assert loaded.odds == trained.odds != 1
    assert loaded.confidence.histories == trained.confidence.histories
    assert np.array_equal(loaded.confidence.values, trained.confidence.values)
    assert not any(tagger.training for tagger in loaded.taggers)


@pytest.mark.parametrize("method", ["mpn", "bnpu"])
def test_methods_without_confidence_are_restored_too(planted, tmp_path, method):
    trained = run(planted.data, planted.priors, replace(SMALL, method=method, epochs=1))
    save_run(tmp_path / method, trained, data=planted.data)
    loaded = load_run(tmp_path / method)
    assert loaded.confidence is None
    assert loaded.lexicon is None
    assert np.array_equal(
        probabilities(loaded, planted.sentences), probabilities(trained, planted.sentences)
    )


def test_a_transformer_run_is_restored(planted, tmp_path):
    settings = replace(
        SMALL,
        method="mpn",
        encoder="transformer",
        encoder_name=str(save_tiny_bert(tmp_path / "encoder")),
    )
    trained = run(planted.data, planted.priors, settings)
    save_run(tmp_path / "run", trained, data=planted.data)
    assert np.array_equal(
        probabilities(load_run(tmp_path / "run"), planted.sentences),
        probabilities(trained, planted.sentences),
    )


@pytest.mark.parametrize(
    "changes",
    [{"encoder": "transformer"}, {"contextual_layer": 1}],
    ids=["fine-tuned", "frozen"],
)
def test_a_run_predicts_without_the_folder_of_its_encoder(planted, tmp_path, changes):
    encoder = save_tiny_bert(tmp_path / "encoder")
    settings = replace(SMALL, method="mpn", encoder_name=str(encoder), **changes)
    trained = run(planted.data, planted.priors, settings)
    save_run(tmp_path / "run", trained, data=planted.data)
    expected = probabilities(trained, planted.sentences)
    shutil.rmtree(encoder)
    moved = (tmp_path / "run").rename(tmp_path / "moved")
    assert np.array_equal(probabilities(load_run(moved), planted.sentences), expected)


def test_the_weights_of_a_fine_tuned_encoder_are_kept_once(planted, tmp_path):
    name = str(save_tiny_bert(tmp_path / "encoder"))
    settings = replace(SMALL, method="mpn", encoder="transformer", encoder_name=name, epochs=1)
    save_run(tmp_path / "run", run(planted.data, planted.priors, settings), data=planted.data)
    assert [path.name for path in (tmp_path / "run").rglob("*.safetensors")] == [
        "tagger-0.safetensors"
    ]


def test_a_dictionary_that_is_switched_off_stays_off(planted, trained, saved):
    loaded = load_run(saved)
    sentence = [["the", "patient", "took", "patient"]]
    assert np.array_equal(probabilities(loaded, sentence), probabilities(trained, sentence))


def test_a_phrase_with_half_a_surrogate_pair_is_saved(planted, trained, data, tmp_path):
    odd = Dictionary("odd", (Phrase("\ud800x", "Drug"), Phrase("naïve", "Drug")))
    lexicon = replace(data.lexicon, dictionaries=(odd,))
    save_run(tmp_path / "run", replace(trained, lexicon=lexicon), data=data)
    phrases = load_run(tmp_path / "run").lexicon.dictionaries[0].phrases
    assert [p.text for p in phrases] == ["\ud800x", "naïve"]


# ---- the folder -----------------------------------------------------------------------------


def test_card_records_what_the_run_was_made_of(trained, data, saved):
    card = read_card(saved)
    assert (card.run_id, card.method) == ("conf_mpu-seed0", "conf_mpu")
    assert card.settings == trained.settings
    assert card.data_fingerprint == data_fingerprint(data)
    assert card.dictionary_fingerprint == fingerprint(data.lexicon.dictionaries)
    assert card.versions["torch"] == torch.__version__
    assert card.versions.keys() >= {"python", "numpy", "transformers", "flashtext", "seqeval"}
    assert card.scores == {"dev": 0.5}
    assert card.made_at.endswith("+00:00")


def test_scores_are_added_to_the_card(folder):
    write_scores(folder, {"test": {"f1": 0.75}})
    assert read_card(folder).scores == {"dev": 0.5, "test": {"f1": 0.75}}
    assert load_run(folder).types == TYPES


def test_folder_holds_no_pickle(saved):
    files = sorted(path for path in saved.rglob("*") if path.is_file())
    assert [path.name for path in files] == [
        "confidence.npy",
        "lexicon.json",
        "run.json",
        "tagger-0.safetensors",
    ]
    for path in files:
        content = path.read_bytes()
        assert not content.startswith(b"PK"), f"{path.name} is a zip, as torch.save writes"
        with pytest.raises(Exception, match=r".*"):
            list(pickletools.genops(content))
    np.load(saved / "confidence.npy", allow_pickle=False)
    load_file(saved / "tagger-0.safetensors")


def test_saving_removes_the_old_card_first(folder, trained, data, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt  # killed after the weights, before the card

    monkeypatch.setattr("engine.runs.saved.lexicon_record", fail)
    with pytest.raises(KeyboardInterrupt):
        save_run(folder, trained, data=data)
    assert refusal(folder) == f"{folder} is not a finished run: it has no run.json"


# ---- damage ---------------------------------------------------------------------------------


def test_a_folder_without_a_card_is_not_a_run(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path} is not a finished run: it has no run.json"


@pytest.mark.parametrize(
    "content",
    ['{"layout": 1', "[]", "7", "{}", '{"layout": "new"}', "\0\1\2", '{"layout": 2}'],
    ids=["cut", "list", "number", "no layout", "odd layout", "bytes", "no settings"],
)
def test_a_damaged_card_is_said_to_be_damaged(folder, content):
    (folder / "run.json").write_text(content)
    expected = f"{folder / 'run.json'} cannot be read; the run is damaged"
    assert refusal(folder).startswith(expected)
    with pytest.raises(InputError, match="the run is damaged"):
        read_card(folder)


@pytest.mark.parametrize("key", ["types", "priors", "history", "taggers", "odds"])
def test_a_card_that_lacks_something_is_damaged(folder, key):
    drop_from_card(folder, key)
    assert "the run is damaged" in refusal(folder)


def test_a_run_of_a_newer_version_asks_for_an_update(folder):
    change_card(folder, layout=3)
    expected = f"{folder} was written by a newer version of Glossa. Update this one"
    assert refusal(folder) == expected


def test_a_run_of_an_older_version_must_be_trained_again(folder):
    change_card(folder, layout=1)
    expected = f"{folder} was written by an older version of Glossa, whose taggers this one cannot"
    assert refusal(folder).startswith(expected)


def test_settings_of_a_newer_version_are_damage_to_this_one(folder):
    change_card(
        folder, settings=json.loads((folder / "run.json").read_text())["settings"] | {"x": 1}
    )
    assert "the run is damaged" in refusal(folder)


def test_weights_of_another_size_are_refused(folder):
    weights = load_file(folder / "tagger-0.safetensors")
    weights["head.2.bias"] = torch.zeros(7)
    save_file(weights, folder / "tagger-0.safetensors")
    message = refusal(folder)
    assert message.startswith(f"the weights in {folder / 'tagger-0.safetensors'} do not fit")
    assert message.endswith("or are the word vectors of another size?")


@pytest.mark.parametrize("damage", [lambda b: b[:-40], lambda b: b"", lambda b: b"\xff" * len(b)],
                         ids=["cut", "empty", "overwritten"])  # fmt: skip
def test_damaged_weights_are_refused(folder, damage):
    weights = folder / "tagger-0.safetensors"
    weights.write_bytes(damage(weights.read_bytes()))
    assert refusal(folder).startswith(f"the weights in {weights} do not fit this run")


@pytest.mark.parametrize("name", ["hidden_size", "character_size", "lexicon_window"])
def test_a_network_that_is_larger_than_its_weights_is_not_made(folder, name, monkeypatch):
    monkeypatch.setattr(saved_runs, "make_inputs", lambda *_: pytest.fail("it was made"))
    settings = json.loads((folder / "run.json").read_text())["settings"]
    change_card(folder, settings={**settings, name: 100_000})
    message = refusal(folder)
    assert message.startswith(f"{folder} asks for a network of ")
    assert "the run is damaged" in message


@pytest.mark.parametrize(
    "sizes", [{"num_hidden_layers": 10**9}, {"hidden_size": 2**20}, {"vocab_size": 10**9}]
)
@pytest.mark.parametrize("changes", [{"encoder": "transformer"}, {"contextual_layer": 1}])
def test_an_encoder_that_is_larger_than_its_weights_is_not_made(planted, tmp_path, changes, sizes):
    save_tiny_bert(tmp_path / "encoder")
    name = str(tmp_path / "encoder")
    settings = replace(SMALL, method="mpn", epochs=1, encoder_name=name, **changes)
    save_run(tmp_path / "run", run(planted.data, planted.priors, settings), data=planted.data)
    config = tmp_path / "run" / "encoder" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | sizes))
    message = refusal(tmp_path / "run")
    assert "asks for" in message
    assert message.endswith("Copy the run again")


def test_missing_weights_are_refused(folder):
    (folder / "tagger-0.safetensors").unlink()
    assert "tagger-0.safetensors do not fit this run" in refusal(folder)


@pytest.mark.parametrize("name", ["lexicon.json", "confidence.npy"])
def test_other_damaged_files_are_refused(folder, name):
    (folder / name).write_bytes(b"{")
    assert refusal(folder).startswith(f"{folder / name} cannot be read; the run is damaged")


def test_a_missing_lexicon_is_refused(folder):
    (folder / "lexicon.json").unlink()
    assert "lexicon.json cannot be read; the run is damaged" in refusal(folder)


# ---- word vectors ---------------------------------------------------------------------------


@pytest.fixture
def own_vectors(trained, data, vectors, tmp_path):
    """A run saved with a file of vectors of its own, which a test may change."""
    path = tmp_path / "own.txt"
    shutil.copy(vectors, path)
    settings = replace(trained.settings, word_vectors=str(path))
    save_run(tmp_path / "run", replace(trained, settings=settings), data=data)
    return tmp_path / "run", path


def test_the_card_has_the_fingerprint_of_the_word_vectors(own_vectors):
    folder, path = own_vectors
    assert read_card(folder).vectors_fingerprint == vectors_fingerprint(str(path)) != ""


def test_other_word_vectors_of_the_same_size_are_refused_in_one_sentence(own_vectors):
    folder, path = own_vectors
    known = read_card(folder).vectors_fingerprint
    path.write_text("the 9 9 9\npatient 9 9 9\n")
    assert refusal(folder) == (
        f"the word vectors of own.txt are not those that the run in {folder} was trained with "
        f"({known}). Put those back, or train again"
    )


def test_a_card_without_a_fingerprint_of_vectors_still_loads(own_vectors):
    folder, path = own_vectors
    drop_from_card(folder, "vectors_fingerprint")
    path.write_text("the 9 9 9\npatient 9 9 9\n")
    assert read_card(folder).vectors_fingerprint == ""
    assert load_run(folder).types == TYPES


@pytest.fixture
def near():
    """A folder with a short path, which a message of 300 characters can hold twice."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_a_run_survives_when_its_vectors_are_removed(trained, data, near):
    settings = replace(trained.settings, word_vectors=str(near / "absent.txt"))
    save_run(near / "run", replace(trained, settings=settings), data=data)
    assert read_card(near / "run").vectors_fingerprint == ""
    message = refusal(near / "run")
    assert 'absent.txt" is not a file' in message
    assert message.endswith(f"put it back, or into {near / 'run'}")


def test_vectors_may_be_put_into_the_folder_of_a_moved_run(own_vectors, planted):
    folder, path = own_vectors
    expected = probabilities(load_run(folder), planted.sentences)
    path.rename(folder / path.name)
    assert np.array_equal(probabilities(load_run(folder), planted.sentences), expected)


def test_word_vectors_are_read_once_however_often_a_run_predicts(own_vectors, planted):
    folder, path = own_vectors
    loaded = load_run(folder)
    expected = probabilities(loaded, planted.sentences)
    path.unlink()
    assert np.array_equal(probabilities(loaded, planted.sentences), expected)


# ---- what is finished -----------------------------------------------------------------------


def test_a_run_is_finished_for_its_own_data_priors_and_settings(trained, data, saved):
    assert is_finished_run(saved, data, trained.priors, trained.settings)


def test_a_folder_without_a_card_is_not_finished(trained, data, tmp_path):
    assert not is_finished_run(tmp_path / "nothing", data, trained.priors, trained.settings)
    assert not is_finished_run(tmp_path, data, trained.priors, trained.settings)


def test_a_run_is_not_finished_for_other_settings_or_priors(trained, data, saved):
    other = replace(trained.settings, epochs=3)
    assert not is_finished_run(saved, data, trained.priors, other)
    assert not is_finished_run(saved, data, trained.priors * 0.9, trained.settings)


def other_labels(data):
    labels = data.labels.copy()
    labels[0] = 1
    return replace(data, labels=labels)


@pytest.mark.parametrize(
    "change",
    [
        other_labels,
        lambda data: replace(data, sentences=[["another"], *data.sentences[1:]]),
        lambda data: replace(data, types=("Drug", "Symptom")),
        lambda data: replace(data, lexicon=None),
        lambda data: replace(data, lexicon=replace(data.lexicon, dictionaries=())),
        lambda data: replace(
            data, lexicon=replace(data.lexicon, options=MatchOptions(ignore_case=False))
        ),
    ],
    ids=["labels", "sentences", "types", "no lexicon", "dictionaries", "options"],
)
def test_a_run_is_not_finished_for_other_data(trained, data, saved, change):
    assert not is_finished_run(saved, change(data), trained.priors, trained.settings)


def test_where_features_are_kept_does_not_change_the_data(trained, data, saved, tmp_path):
    moved = replace(data, cache=tmp_path)
    assert is_finished_run(saved, moved, trained.priors, trained.settings)


def test_data_fingerprint_tells_sentences_apart_by_their_bounds(data):
    one, other = ([["a", "b"], ["c"]], [["a"], ["b", "c"]])
    labels = np.zeros(3, np.int16)
    fingerprints = {
        data_fingerprint(replace(data, sentences=s, labels=labels)) for s in (one, other)
    }
    assert len(fingerprints) == 2


# ---- imported runs --------------------------------------------------------------------------


@pytest.fixture
def secret(near):
    path = near / "secret.txt"
    path.write_text("password hunter2 and more\n")
    return path


@pytest.fixture
def opened(monkeypatch):
    """The names of word vectors and encoders that are opened or hashed."""
    names = []
    for function in ("open_vectors", "vectors_fingerprint", "load_encoder"):
        monkeypatch.setattr(saved_runs, function, names.append)
    return names


def test_an_imported_run_opens_no_file_outside_its_folder_before_it_is_allowed(
    folder, secret, opened
):
    change_settings(folder, word_vectors=str(secret))
    mark_imported(folder)
    message = refusal(folder)
    assert f'this run was imported and uses "{secret}"' in message
    assert opened == []
    allow(folder, [str(secret)])
    load_run_or_not(folder)
    assert str(secret) in opened


def test_a_trusted_run_opens_what_it_names(folder, secret, opened):
    change_settings(folder, word_vectors=str(secret))
    mark_imported(folder)
    load_run_or_not(folder, is_trusted=True)
    assert str(secret) in opened


def test_an_imported_run_contacts_no_hub_before_it_is_allowed(folder, opened, vectors):
    change_settings(folder, encoder_name="someone/model", contextual_layer=1, word_vectors="none")
    mark_imported(folder)
    assert 'uses "someone/model"' in refusal(folder)
    assert opened == []


def test_no_run_contacts_a_hub_for_the_encoder_that_it_should_hold(folder, monkeypatch):
    change_settings(folder, encoder_name="someone/model", contextual_layer=1, word_vectors="none")
    change_card(folder, vectors_fingerprint="")
    asked = []
    monkeypatch.setattr(saved_runs, "load_encoder", asked.append)
    assert f'{folder} lacks its folder "encoder"' in refusal(folder)
    assert asked == []


@pytest.mark.parametrize(
    "content", ["password hunter2 and more\n", "hunter2 1 secret\n", "a 1\nb 1\nhunter2\n"]
)
@pytest.mark.parametrize("fingerprint", ["", "0123456789abcdef"])
def test_no_message_shows_what_a_file_of_vectors_holds(folder, secret, content, fingerprint):
    secret.write_text(content)
    change_settings(folder, word_vectors=str(secret))
    change_card(folder, vectors_fingerprint=fingerprint)
    message = refusal(folder).replace(str(secret), "")
    assert not any(word in message for word in ("password", "hunter2", "more", '"secret"'))


def change_settings(folder, **changes):
    card = json.loads((folder / "run.json").read_text())
    change_card(folder, settings=card["settings"] | changes)


def load_run_or_not(folder, **options):
    """Load a run whose word vectors were replaced by a list of names."""
    with pytest.raises((InputError, AttributeError)):
        load_run(folder, **options)


def test_the_encoder_that_ships_with_glossa_is_no_question():
    assert names_elsewhere(replace(SMALL, encoder="transformer", encoder_name=MINILM)) == ()
