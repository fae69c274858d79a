"""The whole path, on a generated corpus whose true entities are known."""

from dataclasses import replace

import numpy as np
import pytest

from engine import experiment
from engine.dictionaries.model import NEVER, Dictionary, Phrase
from engine.experiment import predict, prepare, probabilities, run, run_supervised, score
from engine.labels.distant import dictionary_entities, label
from engine.learning.assembly import make_tagger
from engine.learning.training_data import TrainingData, check_data, data_warnings
from engine.network.transformer import Stopped
from engine.planning.priors import estimate_priors
from engine.settings import training_settings
from engine.text.model import InputError
from engine.text.tokenization import make_tokenized_document
from tests.support.planted import LEARNING, SMALL, TYPES, Planted
from tests.support.tiny_encoders import save_tiny_bert

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def planted():
    return Planted()


@pytest.fixture(scope="module")
def small():
    """A small corpus, for tests that do not depend on what is learned."""
    return Planted(sentence_count=60)


def settings_for(method, **changes):
    return replace(SMALL, method=method, **changes)


def test_planted_dictionary_leaves_most_entity_tokens_unlabeled(planted):
    unlabeled = (planted.labels[planted.gold > 0] == 0).mean()
    assert 0.5 < unlabeled < 0.7
    assert (planted.gold[planted.labels > 0] == planted.labels[planted.labels > 0]).all()


def test_conf_mpu_finds_the_names_that_mpn_gives_up(planted):
    recalls = {}
    for method in ("mpn", "conf_mpu"):
        recalls[method] = []
        for seed in range(3):
            trained = run(planted.data, planted.priors, settings_for(method, seed=seed, **LEARNING))
            probs = probabilities(trained, planted.sentences)
            assert planted.labeled_recall(probs) > 0.9
            recalls[method].append(planted.hidden_recall(probs))
    mpn, conf_mpu = np.mean(recalls["mpn"]), np.mean(recalls["conf_mpu"])
    assert conf_mpu > 0.5, recalls
    assert conf_mpu > mpn + 0.3, recalls


# ---- every method ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mpn", "mpu", "conf_mpu", "bnpu", "early_stopped"])
def test_every_method_runs_and_predicts_one_row_per_token(small, method):
    trained = run(small.data, small.priors, settings_for(method))
    probs = probabilities(trained, small.sentences)
    assert probs.shape == (len(small.labels), 3)
    assert np.isfinite(probs).all()
    assert (trained.confidence is not None) == (method == "conf_mpu")


def test_same_seed_gives_the_same_run(small):
    one, other = (run(small.data, small.priors, SMALL) for _ in range(2))
    assert np.array_equal(
        probabilities(one, small.sentences), probabilities(other, small.sentences)
    )
    assert np.array_equal(one.confidence.values, other.confidence.values)
    assert [e.risk for e in one.history] == [e.risk for e in other.history]


def test_another_seed_gives_another_run(small):
    one, other = (run(small.data, small.priors, settings_for("mpu", seed=s)) for s in (0, 1))
    assert not np.array_equal(
        probabilities(one, small.sentences), probabilities(other, small.sentences)
    )


@pytest.mark.parametrize(
    ("method", "risks", "mean_confidence"),
    [
        ("mpn", [0.954614, 0.909776, 0.806994], None),
        ("mpu", [0.954594, 0.912949, 0.815583], None),
        ("conf_mpu", [0.547517, 0.668157, 0.492337], 0.493725),
    ],
)
def test_the_paper_preset_trains_as_it_did_in_version_0_1(small, method, risks, mean_confidence):
    tiny = {"epochs": 3, "confidence_epochs": 2, "hidden_size": 16, "batch_size": 16}
    settings = replace(training_settings("paper"), method=method, word_vectors="none", **tiny)
    trained = run(small.data, small.priors, settings)
    assert [epoch.risk for epoch in trained.history] == pytest.approx(risks, abs=1e-4)
    if mean_confidence is not None:
        assert trained.confidence.values.mean() == pytest.approx(mean_confidence, abs=1e-4)


def test_a_confidence_that_is_given_is_not_estimated_again(small, monkeypatch):
    first = run(small.data, small.priors, SMALL)
    monkeypatch.setattr(experiment, "network_confidence", None)
    again = run(small.data, small.priors, SMALL, confidence=first.confidence)
    assert np.array_equal(
        probabilities(first, small.sentences), probabilities(again, small.sentences)
    )


@pytest.mark.parametrize("method", ["mpn", "bnpu"])
def test_an_ensemble_is_the_mean_of_taggers_from_different_seeds(small, method):
    pair = run(small.data, small.priors, settings_for(method, ensemble=2))
    one = run(small.data, small.priors, settings_for(method))
    parts = 2 if method == "bnpu" else 1
    assert (len(pair.taggers), len(one.taggers)) == (2 * parts, parts)
    assert len(pair.history) == 2 * len(one.history)
    first, second = (replace(one, taggers=pair.taggers[start::2]) for start in range(2))
    assert np.array_equal(
        probabilities(first, small.sentences), probabilities(one, small.sentences)
    )
    if method == "mpn":
        mean = sum(probabilities(half, small.sentences) for half in (first, second)) / 2
        assert probabilities(pair, small.sentences) == pytest.approx(mean, abs=1e-6)
        assert not np.array_equal(
            probabilities(first, small.sentences), probabilities(second, small.sentences)
        )


# ---- self-training --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["mpn", "mpu", "conf_mpu"])
def test_a_student_takes_the_place_of_its_teacher(small, method):
    teacher = run(small.data, small.priors, settings_for(method))
    student = run(small.data, small.priors, settings_for(method, is_self_trained=True))
    assert len(student.taggers) == 1
    taught = [epoch.risk for epoch in student.history]
    assert taught[: len(teacher.history)] == [epoch.risk for epoch in teacher.history]
    assert len(taught) == 2 * len(teacher.history)
    assert not np.array_equal(
        probabilities(student, small.sentences), probabilities(teacher, small.sentences)
    )


def test_a_student_finds_what_its_teacher_finds(planted):
    large = {"hidden_size": 64, "epochs": 25}  # enough for a student that sees half of it
    settings = settings_for("mpu", **LEARNING | large)
    teacher = run(planted.data, planted.priors, settings)
    student = run(planted.data, planted.priors, replace(settings, is_self_trained=True))
    theirs, ours = (
        probabilities(trained, planted.sentences).argmax(axis=1) for trained in (teacher, student)
    )
    assert (ours == theirs)[theirs > 0].mean() > 0.8


@pytest.mark.parametrize("method", ["bnpu", "early_stopped", "autoner"])
def test_the_other_methods_of_the_paper_have_no_student(small, method):
    plain = run(small.data, small.priors, settings_for(method))
    asked = run(small.data, small.priors, settings_for(method, is_self_trained=True))
    assert len(asked.history) == len(plain.history)
    assert np.array_equal(
        probabilities(asked, small.sentences), probabilities(plain, small.sentences)
    )


def test_a_student_that_was_stopped_does_not_replace_its_teacher(small):
    settings, heard = settings_for("mpn", is_self_trained=True), []
    stopped = run(
        small.data,
        small.priors,
        settings,
        on_progress=heard.append,
        should_stop=lambda: len(heard) >= 3,  # after one of the student's two epochs
    )
    teacher = run(small.data, small.priors, settings_for("mpn"))
    assert len(stopped.history) == 3
    assert np.array_equal(
        probabilities(stopped, small.sentences), probabilities(teacher, small.sentences)
    )


def test_progress_counts_the_epochs_of_the_student(small):
    heard = []
    settings = settings_for("mpn", is_self_trained=True)
    run(small.data, small.priors, settings, on_progress=heard.append)
    assert [(p.epoch.number, p.epochs) for p in heard] == [(n, 4) for n in (1, 2, 3, 4)]


def test_early_stopped_trains_a_tenth_of_the_epochs(small):
    trained = run(small.data, small.priors, settings_for("early_stopped", epochs=20))
    assert [e.number for e in trained.history] == [1, 2]


def test_bnpu_has_one_tagger_per_type_and_takes_the_most_probable(small):
    trained = run(small.data, small.priors, settings_for("bnpu"))
    assert len(trained.taggers) == 2
    probs = probabilities(trained, small.sentences)
    np.testing.assert_allclose(probs[:, 0], 1 - probs[:, 1:].max(axis=1), atol=1e-6)
    # The most probable type wins only if its probability is above one half.
    is_entity = probs.argmax(axis=1) > 0
    assert (is_entity == (probs[:, 1:].max(axis=1) > 0.5)).all()


def test_bnpu_trains_each_type_when_there_is_a_checkpoint(small, tmp_path):
    settings = settings_for("bnpu")
    free = run(small.data, small.priors, settings)
    kept = run(small.data, small.priors, settings, checkpoint=tmp_path / "checkpoint.safetensors")
    assert len(kept.history) == 4  # two types, two epochs each
    assert np.array_equal(
        probabilities(free, small.sentences), probabilities(kept, small.sentences)
    )


@pytest.fixture(scope="module")
def supervised(planted):
    data = replace(planted.data, labels=planted.gold)
    return run_supervised(data, settings_for("supervised", **LEARNING))


def test_supervised_learns_the_planted_names(planted, supervised):
    assert planted.hidden_recall(probabilities(supervised, planted.sentences)) > 0.9
    assert supervised.priors.tolist() == pytest.approx(planted.priors.tolist())


def test_prior_matched_decoding_predicts_as_many_tokens_as_the_priors_say(small):
    trained = run(small.data, small.priors, settings_for("mpu", is_prior_matched=True))
    predicted = (probabilities(trained, small.sentences).argmax(axis=1) > 0).sum()
    assert abs(predicted - (small.gold > 0).sum()) <= 1


def test_transformer_runs_end_to_end(small, tmp_path):
    settings = settings_for(
        "conf_mpu", encoder="transformer", encoder_name=str(save_tiny_bert(tmp_path))
    )
    one, other = (run(small.data, small.priors, settings) for _ in range(2))
    probs = probabilities(one, small.sentences)
    assert probs.shape == (len(small.labels), 3)
    np.testing.assert_allclose(probs.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(probs, probabilities(other, small.sentences))


def test_a_transformer_takes_its_linear_confidence_from_its_own_frozen_layer(small, tmp_path):
    settings = settings_for(
        "conf_mpu",
        encoder="transformer",
        encoder_name=str(save_tiny_bert(tmp_path)),
        confidence_model="linear",
        contextual_layer=1,
    )
    trained = run(small.data, small.priors, settings)
    plain = run(small.data, small.priors, replace(settings, contextual_layer=0))
    assert probabilities(trained, small.sentences).shape == (len(small.labels), 3)
    assert not np.array_equal(trained.confidence.values, plain.confidence.values)


def test_a_run_names_the_settings_that_were_asked_for(small, monkeypatch):
    seen = []
    monkeypatch.setattr(
        experiment, "make_tagger", lambda *a: seen.append(a[2].dropout) or make_tagger(*a)
    )
    settings = settings_for("mpn", dropout=0.0, is_suited_to_labels=True)
    assert run(small.data, small.priors, settings).settings == settings
    assert seen == [0.3]  # forty words are few


def test_bilstm_takes_a_layer_of_a_frozen_transformer(small, tmp_path):
    settings = settings_for(
        "mpn", contextual_layer=1, encoder_name=str(save_tiny_bert(tmp_path / "encoder"))
    )
    data = replace(small.data, cache=tmp_path / "cache")
    trained = run(data, small.priors, settings)
    assert trained.taggers[0].lstm.input_size == 16 + 8 + 16  # characters, casing, layer
    assert len(list((tmp_path / "cache").iterdir())) == 1
    without_cache = run(small.data, small.priors, settings)
    assert np.array_equal(
        probabilities(trained, small.sentences), probabilities(without_cache, small.sentences)
    )


@pytest.mark.parametrize("method", ["mpn", "bnpu"])
def test_text_without_a_token_has_no_probabilities(small, method):
    trained = run(small.data, small.priors, settings_for(method, epochs=1))
    assert probabilities(trained, []).shape == (0, 3)
    assert probabilities(trained, [[], []]).shape == (0, 3)


def test_predict_gives_every_document_its_entities(planted, supervised):
    name = planted.names["Disease"][30]
    documents = [
        make_tokenized_document("empty", []),
        make_tokenized_document("d1", [f"signs of {name} were seen after surgery".split()]),
    ]
    entities = predict(supervised, documents, "run 7")
    assert entities["empty"] == ()
    ((entity,)) = entities["d1"]
    assert (entity.start, entity.end) == (9, 9 + len(name))
    assert (entity.entity_type, entity.method, entity.run_id) == ("Disease", "supervised", "run 7")


def test_predict_reports_its_progress_and_stops_when_asked(supervised, monkeypatch):
    documents = [make_tokenized_document(f"d{i}", [["no", "signs"]]) for i in range(4)]
    monkeypatch.setattr(
        "engine.learning.training_data._TOKENS_AT_ONCE", 4
    )  # two documents at a time
    shares = []
    entities = predict(supervised, documents, on_share=shares.append)
    assert shares == [0.5, 1.0]
    assert list(entities) == ["d0", "d1", "d2", "d3"]
    with pytest.raises(Stopped):
        predict(supervised, documents, on_share=shares.append, should_stop=lambda: len(shares) > 2)
    assert shares == [0.5, 1.0, 0.5]


# ---- from text to scores --------------------------------------------------------------------


@pytest.fixture(scope="module")
def text(planted):
    """The planted sentences as a document, and a dictionary of the names that are known."""
    phrases = [
        Phrase(name, entity_type)
        for entity_type in TYPES
        for name in planted.names[entity_type]
        if name in planted.known
    ]
    document = make_tokenized_document("planted", planted.sentences)
    return [document], [Dictionary("known", tuple(phrases))]


def test_prepare_labels_the_text_and_estimates_the_priors(planted, text):
    prepared = prepare(*text, match="strict", settings=SMALL)
    types = prepared.data.types
    classes = [0, *(types.index(name) + 1 for name in TYPES)]
    assert prepared.data.labels.tolist() == [classes[label] for label in planted.labels]
    assert prepared.data.labels is prepared.labels.labels
    assert set(prepared.priors.source) == {"estimated by TIcE"}
    assert prepared.notes[: len(prepared.priors.notes)] == prepared.priors.notes
    expected = estimate_priors(prepared.data.sentences, prepared.data.labels, types, seed=0)
    assert prepared.priors.values.tolist() == expected.values.tolist()


def test_prepare_takes_labels_and_priors_that_are_known(text):
    first = prepare(*text, match="strict", settings=SMALL, priors={"Drug": 0.1, "Disease": 0.2})
    assert dict(zip(first.priors.types, first.priors.values[1:], strict=True)) == {
        "Drug": 0.1,
        "Disease": 0.2,
    }
    again = prepare(*text, match="strict", settings=SMALL, labels=first.labels, priors=first.priors)
    assert again.labels is first.labels
    assert again.priors is first.priors


def test_prepare_lets_a_person_override_the_dictionary(planted, text):
    (document,), dictionaries = text
    first = dictionary_entities(label(*text, "strict"), text[0])[document.id][0]
    prepared = prepare(
        [document],
        dictionaries,
        match="strict",
        settings=SMALL,
        rejected={document.id: (first,)},
        priors={"Drug": 0.1, "Disease": 0.2},
    )
    assert (prepared.labels.labels > 0).sum() - (prepared.data.labels > 0).sum() == 1
    assert prepared.data.known_negatives.sum() == 1


def test_prepare_knows_what_is_never_an_entity(text):
    documents, dictionaries = text
    first = dictionaries[0].phrases[0]
    never = Dictionary("never.txt", (Phrase(first.text, NEVER),))
    plain = prepare(*text, match="strict", settings=SMALL)
    prepared = prepare(documents, [*dictionaries, never], match="strict", settings=SMALL)
    negatives = prepared.data.known_negatives
    assert prepared.data.types == plain.data.types
    assert plain.data.known_negatives is None and negatives.any()
    assert np.array_equal(negatives, (plain.data.labels > 0) & (prepared.data.labels == 0))
    settings = settings_for("conf_mpu", **LEARNING)
    trained = run(prepared.data, prepared.priors.values, settings)
    assert (trained.confidence.values[negatives] < 0.01).all()


def test_prepare_refuses_what_no_method_can_learn_from(text):
    with pytest.raises(InputError, match="Priors must be > 0 and sum to < 1"):
        prepare(*text, match="strict", settings=SMALL, priors={"Drug": 0.6, "Disease": 0.6})


def test_what_is_prepared_can_be_trained_predicted_and_scored(text):
    documents, _ = text
    prepared = prepare(*text, match="strict", settings=SMALL)
    settings = settings_for("mpn", **LEARNING)
    trained = run(prepared.data, prepared.priors.values, settings)
    entities = predict(trained, documents, "run 1")
    matched = dictionary_entities(prepared.labels, documents)
    # MPN repeats the dictionary, so its matches serve as gold here.
    scores = score(documents, matched, entities)
    assert scores.overall.support == len(matched["planted"])
    assert scores.overall.recall > 0.9


# ---- progress, stop, resume -----------------------------------------------------------------


def test_progress_reports_the_stages_in_order_and_counts_down_to_zero(small):
    heard = []
    run(small.data, small.priors, SMALL, on_progress=heard.append)
    assert [(p.stage, p.epoch.number, p.epochs) for p in heard] == [
        ("confidence", 1, 2),
        ("confidence", 2, 2),
        ("training", 1, 2),
        ("training", 2, 2),
    ]
    assert {p.method for p in heard} == {"conf_mpu"}
    left = [p.seconds_left for p in heard]
    assert left[0] > 0
    assert left[-1] == 0
    # A mean over the epochs so far: 3, 2, 1 and 0 of them are to come.
    seconds = np.cumsum([p.epoch.seconds for p in heard]) / [1, 2, 3, 4]
    assert left == pytest.approx((seconds * [3, 2, 1, 0]).tolist())


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        (settings_for("bnpu"), {"training": 4}),  # two types
        (
            settings_for("conf_mpu", confidence_folds=2, confidence_seeds=2),
            {"confidence": 8, "training": 2},
        ),
    ],
    ids=["bnpu", "folds and seeds"],
)
def test_progress_counts_the_epochs_of_all_taggers_of_a_stage(small, settings, stages):
    heard = []
    run(small.data, small.priors, settings, on_progress=heard.append)
    assert [(p.stage, p.epoch.number, p.epochs) for p in heard] == [
        (stage, number, total) for stage, total in stages.items() for number in range(1, total + 1)
    ]
    assert [p.seconds_left > 0 for p in heard] == [True] * (len(heard) - 1) + [False]


def test_progress_of_a_resumed_run_counts_down_to_zero(small, tmp_path):
    settings, checkpoint = settings_for("mpn", epochs=4), tmp_path / "checkpoint.safetensors"
    heard = []
    run(small.data, small.priors, replace(settings, epochs=2), checkpoint=checkpoint)
    run(small.data, small.priors, settings, checkpoint=checkpoint, on_progress=heard.append)
    assert [(p.epoch.number, p.epochs) for p in heard] == [(3, 4), (4, 4)]
    # One epoch to come after the third, none after the fourth.
    assert [p.seconds_left for p in heard] == [pytest.approx(heard[0].epoch.seconds), 0]


@pytest.mark.parametrize("method", ["conf_mpu", "bnpu", "self-trained"])
def test_a_stopped_run_resumes_to_the_same_result(small, tmp_path, method):
    is_self_trained = method == "self-trained"
    settings = settings_for("mpu" if is_self_trained else method, epochs=3)
    settings = replace(settings, is_self_trained=is_self_trained)
    checkpoint = tmp_path / "checkpoint.safetensors"
    straight = run(small.data, small.priors, settings)
    heard = []
    stopped = run(
        small.data,
        small.priors,
        settings,
        checkpoint=checkpoint,
        on_progress=heard.append,
        should_stop=lambda: len(heard) >= 4,  # in the second tagger, after an epoch or two
    )
    assert len(stopped.history) < len(straight.history)
    resumed = run(small.data, small.priors, settings, checkpoint=checkpoint)
    assert [e.risk for e in resumed.history] == [e.risk for e in straight.history]
    assert np.array_equal(
        probabilities(resumed, small.sentences), probabilities(straight, small.sentences)
    )


# ---- checks ---------------------------------------------------------------------------------


def refusal(labels, priors=(0.7, 0.2, 0.1)):
    labels = np.array(labels, np.int16)
    with pytest.raises(InputError) as caught:
        check_data(TrainingData([["x"] * len(labels)], labels, TYPES), np.array(priors))
    return str(caught.value)


def test_check_data_names_a_type_without_a_labeled_token():
    assert refusal([0, 0, 1]) == (
        "Disease has no labeled token. Add phrases of that type, or leave the type out"
    )


def test_check_data_refuses_text_that_is_nearly_all_labeled():
    assert refusal([0] * 8 + [1] * 46 + [2] * 46) == (
        "92 % of tokens are labeled. Learning needs unlabeled text; "
        "is the dictionary full of common words?"
    )


@pytest.mark.parametrize(
    ("priors", "total"),
    [((0, 0.6, 0.4), "1.00"), ((0, 0.8, 0.4), "1.20"), ((0.5, 0.5, 0.0), "0.50")],
)
def test_check_data_refuses_impossible_priors(priors, total):
    assert refusal([0, 1, 2], priors) == f"Priors must be > 0 and sum to < 1 (now {total})"


def test_check_data_accepts_what_can_be_learned(small):
    check_data(small.data, small.priors)


def test_run_checks_its_data_before_anything_else(small):
    with pytest.raises(InputError, match="Priors must be"):
        run(small.data, np.array([0, 0.6, 0.6]), SMALL)


def test_data_warnings_count_the_labels_of_a_rare_type():
    labels = np.array([1] * 20 + [2] * 19 + [0] * 50, np.int16)
    assert data_warnings(TrainingData([["x"] * 89], labels, TYPES), SMALL) == [
        "Disease has 19 labeled tokens; with fewer than 20 results are unstable",
        "Only 1 distinct word is labeled; a larger dictionary helps most",
    ]
