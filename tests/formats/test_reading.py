import json
import zipfile

import pytest

from engine.files.sources import SourceFile, path_source, read_source
from engine.formats.catalog import FORMATS
from engine.formats.reading import read_corpus
from engine.formats.writing import write_corpus
from engine.settings import ReadOptions
from engine.text.model import Corpus, Entity, InputError
from engine.text.tokenization import make_document
from tests.support.archives import zipped


def file(name, content):
    return SourceFile(name, content.encode() if isinstance(content, str) else content)


def texts(corpus):
    return [(document.id, document.text) for document in corpus.documents]


def surfaces(corpus):
    return [
        (document.text[entity.start : entity.end], entity.entity_type)
        for document in corpus.documents
        for entity in corpus.entities.get(document.id, ())
    ]


SIGN = Entity(0, 5, "Sign", method="gold")
ANN = "T1\tSign 0 5\tFever\n"
BRAT = zipped({"b.txt": "Fever", "b.ann": ANN}, "b.zip")


# ---- one file -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("d.jsonl", '{"id": "d", "text": "Fever", "entities": [[0, 5, "Sign"]]}', "jsonl"),
        ("d.jsonl", '{"id": "d", "text": "Fever", "label": [[0, 5, "Sign"]]}', "doccano"),
        ("d.jsonl", '["Fever", {"id": "d", "entities": [[0, 5, "Sign"]]}]', "spacy"),
        ("d.conll", "Fever B-Sign\n", "conll"),
        ("d.txt", "Fever B-Sign 0\n", "benchmark"),
        ("d.txt", "d|t|Fever\nd\t0\t5\tFever\tSign\n", "pubtator"),
        ("d.csv", "doc_id,sent_id,token_id,token,start,end,tag_gold\nd,0,0,Fever,0,5,B-Sign\n",
         "tokens"),
    ],
    ids=["jsonl", "doccano", "spacy", "conll", "benchmark", "pubtator", "tokens"],
)  # fmt: skip
def test_annotated_file_of_any_format_gives_the_same_corpus(name, content, format):
    corpus = read_corpus([file(name, content)])
    assert texts(corpus) == [("d", "Fever")]
    assert corpus.entities == {"d": (SIGN,)}
    assert [report.format for report in corpus.files] == [format]


@pytest.mark.parametrize("format", ["jsonl", "spacy", "pubtator", "tokens"])
def test_format_that_is_named_is_not_guessed(format):
    with pytest.raises(InputError):
        read_corpus([file("d.csv", "id,text\n1,fever\n,\n")], format=format)
    assert texts(read_corpus([file("d.csv", "Fever O\n")], format="conll")) == [("d", "Fever")]


def test_format_that_is_not_known_lists_those_that_are():
    with pytest.raises(InputError, match=r'^"xml" is not a format that can be read; choose one of'):
        read_corpus([file("d.txt", "fever")], format="xml")


def test_no_files_are_an_error():
    with pytest.raises(InputError, match=r"^no files were given$"):
        read_corpus([])


# ---- archives and pairs ---------------------------------------------------------------------


def test_archive_of_texts_gives_one_document_per_file():
    corpus = read_corpus([zipped({"x/a.txt": "Fever", "b.csv": "id,text\n7,rash\n"}, "a.zip")])
    assert texts(corpus) == [("a", "Fever"), ("7", "rash")]
    assert [report.format for report in corpus.files] == ["txt", "table"]


def test_archive_of_brat_files_is_read_as_one():
    corpus = read_corpus([BRAT])
    assert corpus.entities == {"b": (SIGN,)}
    assert [(report.name, report.format) for report in corpus.files] == [("b.zip", "brat")]


def test_archive_is_known_by_its_bytes_whatever_its_name():
    assert texts(read_corpus([SourceFile("b.txt", BRAT.data)])) == [("b", "Fever")]


def test_text_and_annotation_of_one_name_are_read_together_in_any_order():
    pair = [file("d.ann", ANN), file("other.txt", "rash"), file("d.txt", "Fever")]
    corpus = read_corpus(pair)
    assert texts(corpus) == [("other", "rash"), ("d", "Fever")]
    assert corpus.entities == {"d": (SIGN,)}


def test_annotation_without_its_text_is_an_error():
    with pytest.raises(InputError, match=r"^d\.ann is brat's annotation of a text that is not"):
        read_corpus([file("d.ann", ANN), file("e.txt", "Fever")])


def test_pairs_of_the_same_name_from_two_folders_are_taken_in_order():
    rash = "T1\tSign 0 4\tRash\n"
    corpus = read_corpus(
        [file("d.txt", "Fever"), file("d.ann", ANN), file("d.txt", "Rash"), file("d.ann", rash)]
    )
    assert texts(corpus) == [("d", "Fever"), ("d~2", "Rash")]
    assert surfaces(corpus) == [("Fever", "Sign"), ("Rash", "Sign")]


def test_annotation_that_could_belong_to_two_texts_is_an_error():
    with pytest.raises(InputError) as caught:
        read_corpus([file("d.txt", "Rash"), file("d.txt", "Fever"), file("d.ann", ANN)])
    assert str(caught.value) == (
        "d.ann could belong to any of 2 files called d.txt. "
        "Zip each folder, or give every text its own name"
    )


# ---- many files -----------------------------------------------------------------------------


def test_documents_come_in_the_order_of_the_files():
    files = [
        file("z.txt", "one"),
        BRAT,
        file("a.csv", "id,text\n9,two\n3,three\n"),
        zipped({"y.txt": "four", "x.txt": "five"}, "c.zip"),
    ]
    ids = [document.id for document in read_corpus(files).documents]
    assert ids == ["z", "b", "9", "3", "y", "x"]


def test_clashing_ids_are_renamed_with_their_sentences_and_entities():
    first = file("a.jsonl", '{"id": "d", "text": "Rash", "entities": []}')
    second = file("b.jsonl", '{"id": "d", "text": "Fever", "entities": [[0, 5, "Sign"]]}')
    corpus = read_corpus([first, second, first])
    assert texts(corpus) == [("d", "Rash"), ("d~2", "Fever"), ("d~3", "Rash")]
    assert corpus.entities == {"d": (), "d~2": (SIGN,), "d~3": ()}
    assert [s.document_id for s in corpus.sentences] == ["d", "d~2", "d~3"]
    note = '1 ids were used by another file already; "~2" was added to them'
    assert corpus.notes == [f"b.jsonl: {note}", f"a.jsonl: {note}"]


def test_entities_file_joins_the_texts_beside_it():
    gold = file("gold.csv", "doc_id,start,end,label\nd,0,5,Sign\n")
    for files in ([file("d.txt", "Fever"), gold], [gold, file("d.txt", "Fever")]):
        assert read_corpus(files).entities == {"d": (SIGN,)}


def test_entity_outside_the_text_beside_it_is_an_error():
    gold = file("gold.csv", "doc_id,start,end,label\nd,3,9,Sign\n")
    with pytest.raises(InputError) as caught:
        read_corpus([file("d.txt", "Fever"), gold])
    assert str(caught.value) == (
        'gold.csv: an entity at 3-9 lies outside document "d", which has 5 characters. '
        "Was it made from another version of the text?"
    )


def test_one_bad_file_refuses_all():
    with pytest.raises(InputError, match=r"^b\.txt is empty"):
        read_corpus([file("a.txt", "fever"), file("b.txt", "")])


def test_options_reach_every_file():
    options = ReadOptions(lines_are_documents=True)
    corpus = read_corpus([file("a.txt", "one\ntwo\n"), zipped({"b.txt": "x\n"}, "z.zip")], options)
    assert [document.id for document in corpus.documents] == ["a-000001", "a-000002", "b-000001"]


# ---- from format to format ------------------------------------------------------------------


CHAIN = [
    ("jsonl", "jsonl"), ("conll", "conll"), ("prodigy", "jsonl"), ("brat", "zip"),
    ("label_studio", "json"), ("doccano", "jsonl"), ("spacy", "jsonl"), ("tokens", "csv"),
    ("jsonl", "jsonl"),
]  # fmt: skip


def test_entities_survive_a_chain_of_formats(tmp_path):
    first = "A naïve 😀 patient had high fever . Aspirin helped ."
    second = "Ödem : no rash ."
    corpus = Corpus(
        (make_document("d1", first), make_document("d 2", second), make_document("d3", "none")),
        {
            "d1": (Entity(22, 32, "Sign"), Entity(35, 42, "Chemical")),
            "d 2": (Entity(0, 4, "Größe"), Entity(10, 14, "Sign")),
            "d3": (),
        },
    )
    expected = surfaces(corpus)
    assert expected[0] == ("high fever", "Sign")
    for step, (format, extension) in enumerate(CHAIN):
        path = tmp_path / f"{step}.{extension}"
        write_corpus(corpus, path, format)
        corpus = read_corpus([read_source(path)])
        assert [report.format for report in corpus.files] == [format]
        assert surfaces(corpus) == expected, format
    assert [document.id for document in corpus.documents] == ["d1", "d 2", "d3"]
    assert corpus.entities["d3"] == ()


@pytest.mark.parametrize(
    "format", [name for name, format in FORMATS.items() if format.write and format.read]
)
def test_every_writable_format_is_detected_when_the_first_document_is_not_annotated(
    format, tmp_path
):
    documents = (make_document("d1", "Rash went"), make_document("d2", "Fever came"))
    path = tmp_path / f"labels{FORMATS[format].extensions[0] if format != 'brat' else '.zip'}"
    write_corpus(Corpus(documents, {"d2": (SIGN,)}), path, format)
    corpus = read_corpus([read_source(path)])
    assert [report.format for report in corpus.files] == [format]
    assert [entity for entities in corpus.entities.values() for entity in entities] != []


def test_json_written_by_hand_over_many_lines_is_read():
    content = json.dumps([{"id": "d", "text": "Fever"}], indent=2)
    assert texts(read_corpus([file("d.json", content)])) == [("d", "Fever")]


@pytest.mark.parametrize(
    "format", [name for name, format in FORMATS.items() if format.write and format.read]
)
def test_a_file_left_on_disk_is_read_as_one_in_memory(format, tmp_path):
    documents = (make_document("d1", "Rash went"), make_document("d2", "Fever came"))
    path = tmp_path / f"labels{FORMATS[format].extensions[0] if format != 'brat' else '.zip'}"
    write_corpus(Corpus(documents, {"d2": (SIGN,)}), path, format)
    assert read_corpus([path_source(path)]) == read_corpus([read_source(path)])


def test_an_archive_and_a_pair_left_on_disk_are_read_as_in_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x/a.txt", "Fever")
        archive.writestr("b.csv", "id,text\n7,rash\n7,itch\n")
    (tmp_path / "d.txt").write_text("Fever", encoding="utf-8")
    (tmp_path / "d.ann").write_text("T1\tSign 0 5\tFever\n", encoding="utf-8")
    paths = [tmp_path / name for name in ("d.ann", "a.zip", "d.txt")]
    on_disk = read_corpus([path_source(path) for path in paths])
    assert on_disk == read_corpus([read_source(path) for path in paths])
    assert [document.id for document in on_disk.documents] == ["a", "7", "7~2", "d"]
