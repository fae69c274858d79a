import io
import re
from dataclasses import replace

import pytest
from hypothesis import given

from engine.files.sources import SourceFile
from engine.formats import pubtator
from engine.formats.contract import WriteOptions
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.corpora import corpora

PLAIN, SKIP = ReadOptions(), ReadOptions(skip_bad_lines=True)
USUAL = WriteOptions()


def read_pubtator(data: bytes | str, options: ReadOptions = PLAIN) -> Corpus:
    raw = data.encode() if isinstance(data, str) else data
    return pubtator.read(SourceFile("cdr.pubtator", raw), options)


def write_pubtator(corpus: Corpus) -> tuple[str, tuple[str, ...]]:
    out = io.BytesIO()
    report = pubtator.write(corpus, out, USUAL)
    return out.getvalue().decode(), report.notes


ARTICLE = (
    "12|t|Fever after aspirin\n"
    "12|a|It | went.\n"
    "12\t0\t5\tFever\tDisease\tD005334\n"
    "12\t12\t19\taspirin\tChemical\n"
    "12\t23\t30\t| went.\tSign\t-1\tmore\n"
    "12\tCID\tD001241\tD005334\n"
)


def test_article_is_title_space_abstract_with_its_entities() -> None:
    corpus = read_pubtator(f"{ARTICLE}\n13|t|Next\n13|a|\n")
    assert [(d.id, d.text) for d in corpus.documents] == [
        ("12", "Fever after aspirin It | went."),
        ("13", "Next"),
    ]
    assert corpus.entities == {
        "12": (
            Entity(0, 5, "Disease", method="gold", canonical_id="D005334"),
            Entity(12, 19, "Chemical", method="gold"),
            Entity(23, 30, "Sign", method="gold", canonical_id="-1"),
        ),
        "13": (),
    }
    assert corpus.notes == ["cdr.pubtator: 1 relations skipped"]


def test_articles_without_annotations_are_not_annotated() -> None:
    assert read_pubtator("1|t|Fever\n1|a|It went.\n").entities == {}


def test_repeated_article_ids_become_unique() -> None:
    corpus = read_pubtator(b"1|t|A\r\n1|a|\r\n\r\n1|t|B\r\n1|a|b\r\n")
    assert [(d.id, d.text) for d in corpus.documents] == [("1", "A"), ("1~2", "B b")]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("1\t0\t5\tfever\tSign\tD1", '"fever" is not at 0-5; the text there is "Fever"'),
        ("1\t0\t50\tFever\tSign\tD1", "0-50 is no stretch of the text (8 characters)"),
        ("1\t5\t5\t\tSign\tD1", "5-5 is no stretch of the text"),
        ("1\t0\tx\tFever\tSign\tD1", 'end "x" is not a whole number'),
        ("1\t0\t5\tFever", '"Fever" has no type'),
        ("2\t0\t5\tFever\tSign\tD1", 'no title line "2|t|…" comes before this'),
        ("2|a|Text", 'no title line "2|t|…" comes before this'),
        ("Some words", '"Some words" is neither id|t|title, id|a|abstract nor an annotation'),
    ],
)
def test_bad_pubtator_line_is_an_error_with_its_number_or_is_skipped(line: str, fault: str) -> None:
    data = f"1|t|Fever\n1|a|it\n{line}\n1\t6\t8\tit\tPRP\n"
    with pytest.raises(InputError) as error:
        read_pubtator(data)
    assert str(error.value).startswith(f"cdr.pubtator line 3: {fault}")
    corpus = read_pubtator(data, SKIP)
    assert corpus.entities == {"1": (Entity(6, 8, "PRP", method="gold"),)}
    assert corpus.files[0].notes[0].startswith("1 lines left out, e.g. cdr.pubtator line 3")


def test_file_without_title_is_refused() -> None:
    with pytest.raises(InputError, match=r"cdr.pubtator holds no line id\|t\|title"):
        read_pubtator("\ufeff \n")


def test_title_is_the_first_line_and_offsets_stay() -> None:
    text = "High\tfever\r\nIt\nwent."
    entities = (Entity(0, 10, "Sign", canonical_id="D1"), Entity(12, 20, "A\tB"))
    corpus = Corpus((make_document("a|b", text), make_document("c", "x")), {"a|b": entities})
    written, notes = write_pubtator(corpus)
    assert written == (
        "a_b|t|High fever\n"
        "a_b|a| It went.\n"
        "a_b\t0\t10\tHigh fever\tSign\tD1\n"
        "a_b\t12\t20\tIt went.\tA_B\t\n"
        "\n"
        "c|t|x\n"
        "c|a|\n"
    )
    assert notes == (
        '1 document ids hold "|" or a tab; written with "_"',
        "4 line breaks and tabs became spaces",
    )


def test_line_break_at_the_end_of_the_text_is_cut_off() -> None:
    entities = (Entity(0, 6, "Sign"), Entity(5, 6, "Sign"))
    written, notes = write_pubtator(Corpus((make_document("d", "Fever\n"),), {"d": entities}))
    assert written == "d|t|Fever\nd|a|\nd\t0\t5\tFever\tSign\t\n"
    assert notes[0] == "2 entities cut before the line break that ends the text"


@given(corpora(plain_types=False, aligned=False))
def test_articles_come_back_from_pubtator(corpus: Corpus) -> None:
    kept = {d.id: d.text for d in corpus.documents if not re.fullmatch(r".*[\r\n]", d.text)}
    back = read_pubtator(write_pubtator(corpus)[0])
    assert [d.id for d in back.documents] == [d.id for d in corpus.documents]
    for document in back.documents:
        if document.id in kept:
            assert document.text == re.sub(r"[\r\n\t]", " ", kept[document.id])
            assert back.entities.get(document.id, ()) == tuple(
                replace(e, method="gold", score=None) for e in corpus.entities[document.id]
            )
