"""A run in other forms finds what the run itself finds."""

import ast
import json
import random
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch

import glossa
from bench.portable import measure
from engine.cli.command_line import main
from engine.dictionaries.model import Dictionary, Phrase
from engine.experiment import predict, probabilities
from engine.export import model_forms
from engine.portable import OnnxTagger, export_model, spacy_pipeline
from engine.portable.transformers_folder import _readme
from engine.runs.saved import load_run
from engine.text.model import InputError
from engine.text.tokenization import make_document
from tests.support.tiny_encoders import save_tiny_bert, save_tiny_roberta
from tests.support.untrained_runs import DOCUMENTS, LEXICON, PLAIN, TEXTS, TYPES, save_untrained

ROOT = Path(__file__).parents[2]


def places(entities):
    return {id: [(e.start, e.end, e.entity_type) for e in given] for id, given in entities.items()}


def found(folder):
    trained = load_run(folder)
    entities = places(predict(trained, DOCUMENTS))
    assert sum(map(len, entities.values())) > 5
    return entities


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return str(save_tiny_bert(tmp_path_factory.mktemp("bert")))


@pytest.fixture(scope="module")
def fine_tuned(tmp_path_factory, bert):
    settings = replace(
        PLAIN, encoder="transformer", encoder_name=bert, encoder_window=40, encoder_stride=8
    )
    return save_untrained(tmp_path_factory.mktemp("run") / "mpn-seed0", settings, odds=1.3)


# ---- ONNX -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["plain", "joining", "glove and lexicon", "ensemble", "per type", "context"]
)
def test_onnx_of_a_bilstm_gives_the_same_entities(tmp_path, bert, kind):
    settings, lexicon, odds = {
        "plain": (PLAIN, None, 1.0),
        "joining": (
            replace(PLAIN, joining_probability=0.05, is_abbreviation_aware=True),
            None,
            1.0,
        ),
        "glove and lexicon": (replace(PLAIN, word_vectors="glove"), LEXICON, 0.7),
        "ensemble": (replace(PLAIN, ensemble=2), None, 1.4),
        "per type": (replace(PLAIN, method="bnpu"), None, 1.0),
        "context": (
            replace(PLAIN, contextual_layer=1, encoder_name=bert, encoder_window=40,
                    encoder_stride=8), LEXICON, 1.0),
    }[kind]  # fmt: skip
    run = save_untrained(tmp_path / "run", settings, lexicon, odds)
    assert export_model(run, "onnx", tmp_path / "onnx") == []
    tagger = OnnxTagger(tmp_path / "onnx")
    assert places(tagger.predict(DOCUMENTS)) == found(run)
    sentences = [list(s.tokens) for d in DOCUMENTS for s in d.sentences]
    expected = probabilities(load_run(run), sentences)
    assert np.abs(tagger.probabilities(sentences) - expected).max() < 1e-3


def test_onnx_of_a_transformer_gives_the_same_entities(tmp_path, fine_tuned):
    export_model(fine_tuned, "onnx", tmp_path / "onnx")
    tagger = glossa.load_onnx(tmp_path / "onnx")
    assert places(tagger.predict(DOCUMENTS)) == found(fine_tuned)
    corpus = glossa.Corpus(DOCUMENTS)
    assert places(glossa.predict(tagger, corpus).entities) == found(fine_tuned)


def test_autoner_is_refused_as_onnx(tmp_path):
    run = save_untrained(tmp_path / "run", replace(PLAIN, method="autoner"))
    with pytest.raises(InputError, match=r"^AutoNER predicts ties .* Export the run as spacy$"):
        export_model(run, "onnx", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_damaged_folder_of_graphs_is_refused(tmp_path):
    run = save_untrained(tmp_path / "run", PLAIN)
    export_model(run, "onnx", tmp_path / "onnx")
    (tmp_path / "onnx" / "tagger.onnx").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be read; the run is damaged"):
        OnnxTagger(tmp_path / "onnx")


# ---- spaCy ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mpn", "autoner"])
def test_spacy_gives_the_same_entities(tmp_path, method):
    run = save_untrained(tmp_path / "run", replace(PLAIN, method=method), LEXICON)
    (run / "predictions.csv").write_text("not needed")
    export_model(run, "spacy", tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline")
    docs = list(nlp.pipe(TEXTS))
    expected = found(run)
    for document, doc in zip(DOCUMENTS, docs, strict=True):
        assert doc.text == document.text
        marked = [(e.start_char, e.end_char, e.label_) for e in doc.ents]
        assert marked == expected[document.id]
        scores = doc.spans["glossa"].attrs["scores"]
        assert len(scores) == len(marked) and all(0 <= score <= 1 for score in scores)
    assert [t.text for t in docs[0] if not t.is_space] == [
        token for sentence in DOCUMENTS[0].sentences for token in sentence.tokens
    ]
    assert nlp("").ents == ()
    assert not (tmp_path / "pipeline" / "glossa" / "run" / "predictions.csv").exists()


def test_the_component_works_in_a_pipeline_with_another_tokenizer(tmp_path):
    run = save_untrained(tmp_path / "run", PLAIN)
    nlp = spacy.blank("en")
    component = nlp.add_pipe("glossa")
    with pytest.raises(ValueError, match="this component has no run"):
        nlp("Aspirin.")
    component.use(run)
    doc = nlp(TEXTS[0])
    assert doc.ents and {e.label_ for e in doc.ents} <= set(TYPES)


def test_spacy_finds_the_component_by_the_entry_points_of_the_package():
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entry_points == {
        "spacy_factories": {"glossa": "engine.portable.spacy_pipeline:make_component"},
        "spacy_tokenizers": {
            "glossa.Tokenizer.v1": "engine.portable.spacy_pipeline:make_tokenizer"
        },
    }
    assert (spacy_pipeline.FACTORY, spacy_pipeline.TOKENIZER) == ("glossa", "glossa.Tokenizer.v1")
    assert callable(spacy_pipeline.make_component) and callable(spacy_pipeline.make_tokenizer)


# ---- transformers ---------------------------------------------------------------------------


def test_transformers_loads_the_folder_without_code_of_ours(tmp_path, fine_tuned):
    from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

    [note] = export_model(fine_tuned, "transformers", tmp_path / "hf")
    assert "may differ from glossa predict" in note
    assert not list((tmp_path / "hf").glob("*.py"))
    model = AutoModelForTokenClassification.from_pretrained(tmp_path / "hf")
    assert model.config.id2label == {0: "O", 1: "I-Chemical", 2: "I-Disease"}
    trained, tokens = load_run(fine_tuned), list(DOCUMENTS[0].sentences[0].tokens)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "hf")
    given = tokenizer(tokens, is_split_into_words=True, return_tensors="pt")
    words = np.array([-1 if w is None else w for w in given.word_ids()])
    with torch.inference_mode():
        logits = model(given["input_ids"], attention_mask=given["attention_mask"]).logits[0]
    # The mean of the logits over a token's sub-words are our logits, non-entity weighted.
    means = torch.stack([logits[words == i].mean(dim=0) for i in range(len(tokens))])
    expected = probabilities(trained, [tokens])
    assert np.abs(means.softmax(dim=1).numpy() - expected).max() < 1e-4
    tagger = pipeline("token-classification", str(tmp_path / "hf"), aggregation_strategy="average")
    sentence = DOCUMENTS[0].sentences[0]
    theirs = {(e["start"], e["end"], e["entity_group"]) for e in tagger(sentence.text)}
    here = {
        (e.start, e.end, e.entity_type)
        for e in predict(trained, [make_document("s", sentence.text)])["s"]
    }
    assert theirs and len(theirs & here) >= len(here) / 2


NAMES = {
    "Chemical": ("aspirin", "aspirin patients", "COX-2", "naïve"),
    "Disease": ("hypotension", "Parkinson's disease", "disease", "tension"),
}
OTHERS = (
    "induced", "in", "patients", "with", "within", "inside", "indeed", "due", "hypo", "tense",
)  # fmt: skip


def planted_corpus(seed, documents):
    draw = random.Random(seed)
    names = [name for listed in NAMES.values() for name in listed]
    texts = (
        " ".join(draw.choice(names if draw.random() < 0.3 else OTHERS) for _ in range(9)) + "."
        for _ in range(documents)
    )
    return glossa.Corpus(tuple(make_document(str(i), text) for i, text in enumerate(texts)))


def test_the_pipeline_of_a_trained_run_finds_nearly_the_same_entities(tmp_path, bert):
    dictionaries = [
        Dictionary(name, tuple(Phrase(phrase, name) for phrase in phrases))
        for name, phrases in NAMES.items()
    ]
    settings = {"encoder_name": bert, "encoder_window": 40, "encoder_stride": 8, "epochs": 4,
                "batch_size": 16, "learning_rate": 0.01}  # fmt: skip
    glossa.train(planted_corpus(0, 120), dictionaries, method="mpn", preset="paper",
                 encoder="transformer", match="balanced", save_to=tmp_path / "run",
                 **settings)  # fmt: skip
    rows = {row["strategy"]: row for row in measure(tmp_path / "run", planted_corpus(1, 60))}
    assert rows["average"]["entities"] > 100
    # Single entities differ: see bench.portable for a real encoder. What the README and the command
    # name is the strategy that agrees best. On so small an encoder, others may agree as well, and
    # the precision in which a processor trains decides about single entities.
    assert rows["average"]["agreement"] > 0.8
    assert rows["average"]["agreement"] > max(row["agreement"] for row in rows.values()) - 0.05
    readme = _readme(load_run(tmp_path / "run"), ["a note"])
    for use in (model_forms.MODEL_FORMS["transformers"].use, readme):
        assert 'aggregation_strategy="average"' in use


def test_the_folder_of_a_run_that_lets_tokens_join_says_that_pipelines_do_not(tmp_path, bert):
    settings = replace(PLAIN, encoder="transformer", encoder_name=bert, joining_probability=0.2)
    notes = export_model(save_untrained(tmp_path / "run", settings), "transformers", tmp_path / "a")
    assert "lets tokens join an entity above a probability of 0.2" in notes[-1]
    assert notes[-1] in (tmp_path / "a" / "README.md").read_text()


def test_the_folder_of_a_run_that_compares_abbreviations_says_that_pipelines_do_not(tmp_path, bert):
    settings = replace(PLAIN, encoder="transformer", encoder_name=bert, is_abbreviation_aware=True)
    notes = export_model(save_untrained(tmp_path / "run", settings), "transformers", tmp_path / "a")
    assert "treats abbreviations like what they stand for" in notes[-1]
    assert notes[-1] in (tmp_path / "a" / "README.md").read_text()


def test_transformers_takes_roberta_too(tmp_path):
    folder = str(save_tiny_roberta(tmp_path / "roberta"))
    settings = replace(
        PLAIN, encoder="transformer", encoder_name=folder, encoder_window=30, encoder_stride=4
    )
    run = save_untrained(tmp_path / "run", settings)
    export_model(run, "transformers", tmp_path / "hf")
    assert json.loads((tmp_path / "hf" / "config.json").read_text())["model_type"] == "roberta"


def test_what_transformers_cannot_express_is_refused(tmp_path, bert):
    run = save_untrained(tmp_path / "bilstm", PLAIN)
    with pytest.raises(InputError, match=r"^this run is a BiLSTM, which transformers cannot load"):
        export_model(run, "transformers", tmp_path / "out")
    settings = replace(PLAIN, encoder="transformer", encoder_name=bert, ensemble=2,
                       encoder_window=40, encoder_stride=8)  # fmt: skip
    run = save_untrained(tmp_path / "two", settings)
    with pytest.raises(InputError, match="with 2 taggers is not one network"):
        export_model(run, "transformers", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---- the command ----------------------------------------------------------------------------


def test_the_command_writes_a_folder_with_its_card(tmp_path, capsys):
    run = save_untrained(tmp_path / "run", PLAIN)
    arguments = ["export-model", str(run), "--to", "onnx", "--out", str(tmp_path / "o")]
    assert main(arguments) == 0
    assert (
        capsys.readouterr().out
        == f"Wrote {run} to {tmp_path / 'o'}: ONNX graphs for onnxruntime.\n"
    )
    card = json.loads((tmp_path / "o" / "glossa.card.json").read_text())
    assert card["run"]["method"] == "mpn" and card["command"].startswith("glossa export-model")
    assert main(arguments) == 2
    assert capsys.readouterr().err == (
        f"glossa export-model: {tmp_path / 'o'} is there already; name a folder that is new or "
        "empty.\n"
    )


def test_bad_input_has_one_sentence(tmp_path, monkeypatch):
    run = save_untrained(tmp_path / "run", PLAIN)
    with pytest.raises(InputError, match=r'^"tflite" is not a form; choose one of spacy'):
        glossa.export_model(run, "tflite", tmp_path / "out")
    with pytest.raises(InputError, match="is not a finished run"):
        glossa.export_model(tmp_path, "onnx", tmp_path / "out")
    monkeypatch.setattr(model_forms, "find_spec", lambda name: None)
    with pytest.raises(InputError) as error:
        glossa.export_model(run, "spacy", tmp_path / "out")
    assert str(error.value) == (
        'the form spacy needs spacy, which is not installed. Run: pip install "glossa[spacy]"'
    )


def test_optional_packages_are_imported_only_where_they_are_used():
    for path in (ROOT / "engine").rglob("*.py"):
        if path.name == "spacy_pipeline.py":  # imported by spaCy itself, and to write a pipeline
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            tops = {str(name).split(".")[0] for name in names}
            assert not tops & {"spacy", "onnx", "onnxruntime", "fastapi", "uvicorn"}, path
