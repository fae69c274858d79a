import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries.editing import mute
from engine.dictionaries.model import Dictionary, Phrase
from engine.labels.distant import label
from engine.scoring.checking import (
    Judgement,
    checked_precision,
    draw_sample,
    judgements_from_gold,
    kept_matches,
    mixed,
    noisy_phrases,
    wilson_interval,
)
from engine.text.model import Entity
from engine.text.tokenization import make_document

Z = 1.959964
KEY = ["phrase", "entity_type", "dictionary"]
COLUMNS = [
    "document", "start", "end", "text", "entity_type", "phrase", "dictionary", "sentence",
    "context",
]  # fmt: skip


def matches_of(*groups):
    """Kept matches, so many of each (count, type, dictionary, phrase), each at its own place."""
    rows = []
    for count, entity_type, dictionary, phrase in groups:
        for _ in range(count):
            at = 10 * len(rows)
            rows.append(
                ("d", at, at + 3, phrase, entity_type, phrase, dictionary, len(rows), "context")
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def places(matches):
    columns = (matches[name].tolist() for name in ("document", "start", "end", "entity_type"))
    return list(zip(*columns, strict=True))


def judge(matches, verdicts):
    """Judgements of the first matches, in the order of the verdicts; "" leaves one out."""
    return {
        place: Judgement(*place, verdict)
        for place, verdict in zip(places(matches), verdicts, strict=False)
        if verdict
    }


def test_judgement_refuses_an_unknown_verdict():
    with pytest.raises(ValueError, match="'maybe'"):
        Judgement("d1", 0, 7, "Chemical", "maybe")


# ---- sampling -------------------------------------------------------------------------------

MIXED = matches_of(
    (300, "Chemical", "a.txt", "aspirin"),
    (80, "Chemical", "b.txt", "iron"),
    (15, "Disease", "a.txt", "rash"),
    (2, "Disease", "b.txt", "fever"),
)


def strata(sample):
    return sample.groupby(["entity_type", "dictionary"]).size().to_dict()


def test_draw_sample_gives_every_type_and_dictionary_its_share_and_at_least_five():
    # 50 of 397: ceil(37.8) = 38 and ceil(10.1) = 11; then at least 5, where there are as many.
    assert strata(draw_sample(MIXED, 50)) == {
        ("Chemical", "a.txt"): 38,
        ("Chemical", "b.txt"): 11,
        ("Disease", "a.txt"): 5,
        ("Disease", "b.txt"): 2,
    }


def test_draw_sample_is_the_same_whatever_the_order_of_the_matches():
    shuffled = MIXED.sample(frac=1, random_state=3)
    assert places(draw_sample(shuffled, 50)) == places(draw_sample(MIXED, 50))


def test_draw_sample_changes_with_the_seed():
    first, second = (set(places(draw_sample(MIXED, 50, seed))) for seed in (0, 1))
    assert first != second


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 3))
def test_a_larger_sample_contains_the_smaller_one(size, more, seed):
    smaller, larger = (draw_sample(MIXED, n, seed) for n in (size, size + more))
    assert set(places(smaller)) <= set(places(larger))
    assert not larger.duplicated(["document", "start"]).any()


def test_a_sample_as_large_as_the_matches_holds_all_of_them():
    assert sorted(places(draw_sample(MIXED, len(MIXED)))) == sorted(places(MIXED))


def test_a_mixed_sample_is_the_same_matches_in_the_order_they_would_have_in_a_larger_one():
    matches = matches_of((50, "Chemical", "a.txt", "iron"), (50, "Disease", "b.txt", "rash"))
    small, large = (mixed(draw_sample(matches, size)) for size in (10, 40))
    assert sorted(places(small)) == sorted(places(draw_sample(matches, 10)))
    first = set(places(small))
    assert [place for place in places(large) if place in first] == places(small)
    # Not one stratum after the other.
    assert small["entity_type"].tolist() != sorted(small["entity_type"])


def test_draw_sample_of_no_matches_is_empty():
    assert draw_sample(MIXED.head(0)).empty


DOCUMENTS = [make_document(f"d{i}", f"Aspirin {i} and lead {i} for a cold.") for i in range(60)]
SENTENCES = [sentence for document in DOCUMENTS for sentence in document.sentences]
DRUGS = Dictionary("drugs.txt", (Phrase("aspirin", "Chemical"), Phrase("lead", "Chemical")))
DISEASES = Dictionary("diseases.txt", (Phrase("cold", "Disease"),))


def sample_of(dictionaries, size=40):
    return draw_sample(kept_matches(label(DOCUMENTS, dictionaries), SENTENCES), size)


def test_matches_keep_their_order_when_another_phrase_is_muted():
    before = sample_of([DRUGS, DISEASES], 180)
    after = sample_of([mute(DRUGS, [("lead", "Chemical")]), DISEASES], 180)
    assert places(before[before["phrase"] != "lead"]) == places(after)


def test_the_judged_matches_come_first_again_after_muting():
    before = sample_of([DRUGS, DISEASES])
    after = sample_of([mute(DRUGS, [("lead", "Chemical")]), DISEASES])
    assert set(places(before[before["phrase"] != "lead"])) <= set(places(after))


def test_kept_matches_shows_each_match_where_it_stands():
    documents = [make_document("d", "Well. Aspirin\u00a0 helped.")]
    labels = label(documents, [DRUGS])
    (match,) = kept_matches(labels, documents[0].sentences).to_dict("records")
    assert match == {
        "document": "d",
        "start": 6,
        "end": 13,
        "text": "Aspirin",
        "entity_type": "Chemical",
        "phrase": "aspirin",
        "dictionary": "drugs.txt",
        "sentence": 1,
        "context": "Aspirin\u00a0 helped.",
    }


def test_nothing_kept_is_an_empty_table_with_columns_that_can_be_judged():
    matches = kept_matches(label(DOCUMENTS, []), SENTENCES)
    assert list(matches.columns) == COLUMNS
    assert checked_precision(matches, {})[["matches", "checked"]].values.tolist() == [[0, 0]]
    noisy = noisy_phrases(matches, {})
    assert noisy.empty and list(noisy.columns) == list(noisy_phrases(MIXED, {}).columns)


# ---- the interval ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "correct, total, low, high",
    [
        (0, 0, 0.0, 1.0),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (42, 50, 0.7149, 0.9166),
        # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval_has_the_published_values(correct, total, low, high):
    assert wilson_interval(correct, total) == pytest.approx((low, high), abs=5e-5)


def farthest_accepted(share, total, edge):
    """The last p from `share` towards `edge` that a two-sided score test does not reject."""
    accepted, rejected = share, float(edge)
    for _ in range(100):
        p = (accepted + rejected) / 2
        if abs(share - p) <= Z * math.sqrt(p * (1 - p) / total):
            accepted = p
        else:
            rejected = p
    return accepted


@given(st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_inverts_the_score_test(counts):
    correct, total = counts
    low, high = wilson_interval(correct, total)
    assert low == pytest.approx(farthest_accepted(correct / total, total, 0), abs=1e-9)
    assert high == pytest.approx(farthest_accepted(correct / total, total, 1), abs=1e-9)
    assert 0 <= low <= correct / total <= high <= 1


# ---- precision ------------------------------------------------------------------------------


def test_checked_precision_is_plain_wilson_when_all_weights_are_equal():
    matches = matches_of((20, "Chemical", "a.txt", "aspirin"))
    (row,) = checked_precision(matches, judge(matches, ["correct"] * 8 + ["wrong"] * 2)).to_dict(
        "records"
    )
    low, high = wilson_interval(8, 10)
    assert row == {
        "entity_type": "Chemical",
        "matches": 20,
        "checked": 10,
        "correct": 8,
        "unsure": 0,
        "precision": 0.8,
        "low": pytest.approx(low),
        "high": pytest.approx(high),
    }


def test_checked_precision_weighs_each_judgement_by_what_it_stands_for():
    matches = matches_of((10, "Chemical", "a.txt", "iron"), (30, "Chemical", "b.txt", "zinc"))
    verdicts = ["correct", "wrong", *[""] * 8, *["correct"] * 3]
    row = checked_precision(matches, judge(matches, verdicts)).iloc[0]
    # a.txt: 10 matches by 2 judgements, weight 5.  b.txt: 30 by 3, weight 10.
    assert row["precision"] == pytest.approx((5 + 30) / 40)
    worth = 40**2 / (2 * 5**2 + 3 * 10**2)  # Kish: 4.57 instead of 5
    low, high = wilson_interval(0.875 * worth, worth)
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_checked_precision_has_one_row_per_group_and_one_for_all():
    matches = matches_of((10, "Chemical", "a.txt", "iron"), (10, "Disease", "a.txt", "rash"))
    judgements = judge(matches, ["correct", "wrong", *[""] * 8, "correct", "correct"])
    table = checked_precision(matches, judgements).set_index("entity_type")
    assert table["precision"].to_dict() == {"Chemical": 0.5, "Disease": 1.0, "all": 0.75}
    assert table["matches"].to_dict() == {"Chemical": 10, "Disease": 10, "all": 20}


def test_checked_precision_can_be_asked_by_phrase():
    matches = matches_of((2, "Chemical", "a.txt", "iron"), (2, "Chemical", "a.txt", "zinc"))
    table = checked_precision(matches, judge(matches, ["correct", "", "wrong"]), by="phrase")
    assert table.set_index("phrase")["precision"].to_dict() == {"iron": 1, "zinc": 0, "all": 0.5}


def test_unsure_counts_as_checked_but_not_as_judged():
    matches = matches_of((10, "Chemical", "a.txt", "iron"))
    row = checked_precision(matches, judge(matches, ["correct", "wrong", "unsure"])).iloc[0]
    assert (row["checked"], row["correct"], row["unsure"]) == (3, 1, 1)
    assert row["precision"] == 0.5
    assert (row["low"], row["high"]) == pytest.approx(wilson_interval(1, 2))


@pytest.mark.parametrize("verdicts", [[], ["unsure"]], ids=["nothing", "only unsure"])
def test_precision_is_unknown_when_nothing_is_judged(verdicts):
    matches = matches_of((10, "Chemical", "a.txt", "iron"))
    row = checked_precision(matches, judge(matches, verdicts)).iloc[0]
    assert pd.isna(row["precision"]) and (row["low"], row["high"]) == (0.0, 1.0)


def test_judgements_of_matches_that_are_gone_do_not_count():
    matches = matches_of((4, "Chemical", "a.txt", "iron"))
    gone = Judgement("d1", 0, 7, "Chemical", "correct")
    judgements = judge(matches, ["correct", "wrong"]) | {gone.place: gone}
    assert checked_precision(matches.tail(3), judgements).iloc[0]["checked"] == 1


def test_the_interval_of_a_proportional_sample_contains_the_truth_at_least_90_times_in_100():
    matches = matches_of(
        (400, "Chemical", "a.txt", "iron"),
        (300, "Chemical", "b.txt", "zinc"),
        (200, "Disease", "a.txt", "rash"),
        (100, "Disease", "b.txt", "cold"),
    )
    # Right: 380 of 400, 240 of 300, 180 of 200 and 60 of 100, so 860 of 1,000.
    right = (380, 20), (240, 60), (180, 20), (60, 40)
    verdicts = [v for yes, no in right for v in ["correct"] * yes + ["wrong"] * no]
    truth = judge(matches, verdicts)
    held = 0
    for seed in range(100):
        sample = places(draw_sample(matches, 100, seed))
        row = checked_precision(matches, {place: truth[place] for place in sample}).iloc[-1]
        held += row["low"] <= 0.86 <= row["high"]
    assert held >= 90


# ---- noisy phrases --------------------------------------------------------------------------


def test_noisy_phrases_come_in_the_order_of_their_estimated_false_matches():
    matches = matches_of(
        (4, "Chemical", "a.txt", "lead"),
        (10, "Chemical", "a.txt", "aspirin"),
        (6, "Chemical", "a.txt", "zinc"),
    )
    verdicts = ["wrong", "wrong", "", "", "correct", "correct"]
    table = noisy_phrases(matches, judge(matches, verdicts))
    assert table.drop(columns=["entity_type", "dictionary"]).values.tolist() == [
        # The type's precision is 2 / 4, worth two judgements for each phrase.
        # lead: (0 + 1) / (2 + 2) = .25 right, so 2 seen and 2 * .75 more are false.
        ["lead", 4, 2, 0.0, "common word", 3.5],
        # zinc: (0 + 1) / (0 + 2) = .5 right, so 6 * .5 are false.
        ["zinc", 6, 0, pytest.approx(float("nan"), nan_ok=True), "", 3.0],
        # aspirin: (2 + 1) / (2 + 2) = .75 right, so 8 * .25 are false.
        ["aspirin", 10, 2, 1.0, "", 2.0],
    ]


def test_noisy_phrases_put_flagged_ones_first_when_nothing_is_judged():
    matches = matches_of(
        (9, "Chemical", "a.txt", "aspirin"),
        (3, "Chemical", "a.txt", "lead"),
        (5, "Chemical", "a.txt", "K"),
        (9, "Chemical", "a.txt", "amiodarone"),
    )
    table = noisy_phrases(matches, {})
    assert table["phrase"].tolist() == ["K", "lead", "amiodarone", "aspirin"]
    assert table["estimated_false"].tolist() == [0, 0, 0, 0]


def test_noisy_phrases_separate_types_and_dictionaries_of_a_phrase():
    matches = matches_of(
        (2, "Chemical", "a.txt", "cold"), (1, "Disease", "a.txt", "cold"), (3, "X", "b.txt", "cold")
    )
    table = noisy_phrases(matches, {})
    assert table[["entity_type", "dictionary", "matches"]].values.tolist() == [
        ["X", "b.txt", 3],
        ["Chemical", "a.txt", 2],
        ["Disease", "a.txt", 1],
    ]


def test_noisy_phrases_can_have_a_type_named_all():
    matches = matches_of((2, "all", "a.txt", "lead"), (2, "other", "a.txt", "zinc"))
    table = noisy_phrases(matches, judge(matches, ["wrong", "", "correct", "correct"]))
    # lead: the type's own precision is 0, so (0 + 0) / (1 + 2) right: 1 seen and 1 more.
    assert table[["phrase", "estimated_false"]].values.tolist() == [["lead", 2.0], ["zinc", 0.0]]


GROUPS = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["Chemical", "Disease", "all"]),
        st.sampled_from(["a.txt", "b.txt"]),
        st.sampled_from(["lead", "K", "aspirin"]),
    ),
    min_size=1,
    max_size=5,
)


@given(GROUPS, st.lists(st.sampled_from(["", "correct", "wrong", "unsure"]), max_size=20))
def test_noisy_phrases_equal_a_slow_count(groups, verdicts):
    matches = matches_of(*groups)
    judgements = judge(matches, verdicts)
    expected = {}
    for key in zip(*(matches[name] for name in KEY), strict=True):
        of_phrase = matches[(matches[KEY] == list(key)).all(axis=1)]
        given = [judgements[place].verdict for place in places(of_phrase) if place in judgements]
        correct, checked = given.count("correct"), len(given) - given.count("unsure")
        precision = checked_precision(matches[matches["entity_type"] == key[1]], judgements)
        prior = precision["precision"].fillna(1.0).astype(float).iloc[0]
        right = (correct + 2 * prior) / (checked + 2)
        false = checked - correct + (len(of_phrase) - checked) * (1 - right)
        expected[key] = (len(of_phrase), checked, pytest.approx(false))
    table = noisy_phrases(matches, judgements).set_index(KEY)
    figures = table[["matches", "checked", "estimated_false"]]
    assert {key: tuple(row) for key, row in figures.iterrows()} == expected


# ---- gold -----------------------------------------------------------------------------------


def test_judgements_from_gold_judges_every_match_of_the_annotated_documents():
    matches = matches_of((3, "Chemical", "a.txt", "iron"))
    matches.loc[2, "document"] = "unknown"
    gold = {"d": [Entity(0, 3, "Chemical"), Entity(10, 13, "Disease")]}
    judgements = judgements_from_gold(matches, gold)
    assert [judgement.verdict for judgement in judgements.values()] == ["correct", "wrong"]
    assert list(judgements) == places(matches)[:2]


def test_judgements_from_gold_are_all_wrong_in_a_document_annotated_with_nothing():
    matches = matches_of((2, "Chemical", "a.txt", "iron"))
    verdicts = {
        judgement.verdict for judgement in judgements_from_gold(matches, {"d": ()}).values()
    }
    assert verdicts == {"wrong"}
