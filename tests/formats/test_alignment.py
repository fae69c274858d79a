import pytest
from hypothesis import given

from engine.formats.alignment import Aligned, align, gold_of
from engine.text.model import Corpus, Entity, FileReport, InputError
from engine.text.tokenization import make_document, make_tokenized_document
from tests.support.corpora import corpora

RAW = [
    make_document("d1", "Selegiline-induced hypotension.\n\nIt  passed."),
    make_document("d2", "Aspirin helped."),
]
ASPIRIN = Entity(0, 7, "Chemical", method="gold")


def gold(entities, documents=(), name="gold.csv"):
    return Corpus(tuple(documents), entities, (FileReport(name, "any"),))


def test_align_by_id_when_the_gold_has_no_text():
    assert align(RAW, gold({"d2": (ASPIRIN,)})) == Aligned({"d2": (ASPIRIN,)})


def test_align_keeps_documents_that_are_annotated_with_nothing():
    assert align(RAW, gold({"d1": (), "d2": (ASPIRIN,)})).entities == {"d1": (), "d2": (ASPIRIN,)}


def test_align_by_text_when_the_ids_differ():
    source = make_document("other", "Aspirin helped.")
    assert align(RAW, gold({"other": (ASPIRIN,)}, [source])) == Aligned({"d2": (ASPIRIN,)})


def test_align_prefers_the_text_when_an_id_stands_for_another_document():
    source = make_document("d1", "Aspirin helped.")
    assert align(RAW, gold({"d1": (ASPIRIN,)}, [source])).entities == {"d2": (ASPIRIN,)}


def test_align_moves_the_offsets_of_tokenized_gold_onto_raw_text():
    source = make_tokenized_document(
        "1", [["Selegiline", "-", "induced", "hypotension", "."], ["It", "passed", "."]]
    )
    # "Selegiline - induced hypotension .\nIt passed ." against the text with its hyphens
    entities = (Entity(0, 10, "Chemical"), Entity(21, 32, "Disease"), Entity(38, 44, "Course"))
    assert [source.text[e.start : e.end] for e in entities] == [
        "Selegiline",
        "hypotension",
        "passed",
    ]
    assert align(RAW, gold({"1": entities}, [source])).entities == {
        "d1": (Entity(0, 10, "Chemical"), Entity(19, 30, "Disease"), Entity(37, 43, "Course"))
    }


def test_align_leaves_out_a_moved_entity_of_white_space_only():
    source = make_document("1", "Aspirin  helped.")
    assert align(RAW, gold({"1": (Entity(7, 9, "X"),)}, [source])).entities == {"d2": ()}


@given(corpora(pretokenized=True))
def test_aligned_entities_have_the_same_letters(corpus):
    targets = [make_document(d.id, "\n\n" + d.text.replace(" ", "  ")) for d in corpus.documents]
    aligned = align(targets, corpus)
    for source, target in zip(corpus.documents, targets, strict=True):
        for before, after in zip(
            corpus.entities[source.id], aligned.entities[target.id], strict=True
        ):
            assert target.text[after.start : after.end].split() == (
                source.text[before.start : before.end].split()
            )


def test_align_gives_each_of_two_equal_texts_its_own_gold():
    targets = [make_document(id, "Aspirin helped.") for id in ("a", "b")]
    sources = [make_document(id, "Aspirin helped.") for id in ("1", "b")]
    entities = {"1": (ASPIRIN,), "b": ()}
    assert align(targets, gold(entities, sources)).entities == {"a": (ASPIRIN,), "b": ()}


def test_align_notes_gold_of_unknown_documents():
    aligned = align(RAW, gold({"x": (), "d2": (ASPIRIN,), "y": (ASPIRIN,)}))
    assert aligned.entities == {"d2": (ASPIRIN,)}
    assert aligned.notes == ('2 annotated documents are not among these texts, e.g. "x"',)


def test_align_says_so_when_no_document_fits():
    with pytest.raises(
        InputError,
        match=r'gold\.csv annotates none of these .* first document is "x", the first here is "d1"',
    ):
        align(RAW, gold({"x": (ASPIRIN,)}))


def test_align_says_so_when_there_is_no_document():
    with pytest.raises(InputError, match='the first here is "none"'):
        align([], gold({"x": (ASPIRIN,)}))


def test_align_says_so_when_there_is_no_annotation():
    with pytest.raises(InputError, match=r"gold\.csv holds no annotations\. Gold can be CoNLL"):
        align(RAW, gold({}))


@pytest.mark.parametrize(
    "documents, id",
    [((), "d2"), ((make_document("o", "Aspirin helped."),), "o"),
     ((make_document("o", "Aspirin   helped."),), "o")],
    ids=["no text", "same text", "other spaces"],
)  # fmt: skip
def test_align_says_so_when_an_entity_lies_outside_its_text(documents, id):
    with pytest.raises(InputError, match=r"gold\.csv: an entity at 8-99 lies outside document"):
        align(RAW, gold({id: (Entity(8, 99, "X"),)}, documents))


# ---- gold_of --------------------------------------------------------------------------------


def corpus_of(*methods):
    return Corpus((), {"d1": tuple(Entity(0, 1, "X", method=m) for m in methods), "d2": ()})


@pytest.mark.parametrize(
    "methods, kept",
    [
        (("gold", "dictionary", "conf_mpu"), ("gold",)),
        (("gold", "review"), ("gold", "review")),
        (("",), ("",)),
        (("", "mpn"), ("",)),
        ((), ()),
    ],
    ids=["gold among others", "reviewed", "unnamed", "unnamed among others", "nothing"],
)
def test_gold_of_keeps_human_labels_only(methods, kept):
    entities = gold_of(corpus_of(*methods)).entities
    assert [entity.method for entity in entities["d1"]] == list(kept)
    assert entities["d2"] == ()


def test_gold_of_annotates_nothing_when_every_label_was_made_by_a_method():
    assert gold_of(corpus_of("dictionary", "conf_mpu")).entities == {}
