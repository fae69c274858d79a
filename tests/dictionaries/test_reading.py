import io
import json
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.dictionaries import reading
from engine.dictionaries.model import Phrase
from engine.dictionaries.reading import dictionary_paths, read_dictionaries, read_dictionary
from engine.files.sources import SourceFile
from engine.settings import MATCH_PRESETS, Limits, ReadOptions
from engine.text.model import InputError
from tests.support.counting import watched_memory


def source(name, text):
    return SourceFile(name, text.encode())


def read(name, text, **keywords):
    return read_dictionary(source(name, text), **keywords)


def pairs(dictionary):
    return [(phrase.text, phrase.entity_type) for phrase in dictionary.phrases]


def message(name, text, **keywords):
    with pytest.raises(InputError) as caught:
        read(name, text, **keywords)
    return str(caught.value)


def archive(name, members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for member, text in members.items():
            file.writestr(member, text)
    return SourceFile(name, buffer.getvalue())


# ---- one phrase per line --------------------------------------------------------------------


def test_text_file_gives_one_phrase_per_line_with_the_file_name_as_type():
    dictionary = read("Disease.txt", "cold\n\n  swine \t flu \r\nmeasles")
    assert dictionary.name == "Disease.txt"
    assert dictionary.phrases == (
        Phrase("cold", "Disease", line=1),
        Phrase("swine flu", "Disease", line=3),
        Phrase("measles", "Disease", line=4),
    )
    assert dictionary.notes == ()
    assert dictionary.match is None


def test_text_file_takes_the_type_it_is_given():
    assert read("list.txt", "cold", entity_type=" Disease ").phrases[0].entity_type == "Disease"
    assert read("list.txt", "cold", entity_type="Disease").notes == ()


def test_text_file_counts_comments():
    dictionary = read("Tag.txt", "# made by hand\ncold\n  #1 in the charts\nc# minor")
    assert pairs(dictionary) == [("cold", "Tag"), ("c# minor", "Tag")]
    assert dictionary.notes == ("2 comment lines skipped (first on line 1)",)


@pytest.mark.parametrize("stem", ["terms", "Dictionary", "dict_full", "gazetteer"])
def test_generic_file_name_is_used_and_noted(stem):
    dictionary = read(f"{stem}.txt", "cold\nflu")
    assert dictionary.types == (stem,)
    assert dictionary.notes == ("2 phrases have no label; took the file name",)


def test_text_file_ends_lines_only_at_line_ends():
    dictionary = read("T.txt", "a\u2028b\rc\x0cd\r\ne")
    assert [(p.text, p.line) for p in dictionary.phrases] == [("a b", 1), ("c d", 2), ("e", 3)]


def test_duplicates_are_removed_and_counted():
    dictionary = read("T.txt", "cold\nflu\n cold\nCold\nflu")
    assert [p.text for p in dictionary.phrases] == ["cold", "flu", "Cold"]
    assert dictionary.notes == ("2 duplicate phrases removed",)


def test_only_duplicates_leave_one_phrase_and_say_so():
    assert read("T.txt", "cold\n" * 5).notes == ("4 duplicate phrases removed, 1 phrase left",)


def test_phrase_without_letter_or_digit_is_kept():
    assert pairs(read("T.txt", "--\ncold")) == [("--", "T"), ("cold", "T")]


def test_phrase_with_control_characters_is_left_out_and_counted():
    dictionary = read("T.txt", "cold\nfl\x07u\nzero\u200bwidth")
    assert [p.text for p in dictionary.phrases] == ["cold", "zero\u200bwidth"]
    assert dictionary.notes == ("1 phrase with control characters left out (first on line 2)",)


def test_phrase_longer_than_any_sentence_is_left_out_and_counted():
    longest = " ".join("a" * 1_000)
    dictionary = read("T.txt", f"cold\n{longest} a\n{longest}\n{'x' * 30_000}\n{longest} b")
    assert [p.text for p in dictionary.phrases] == ["cold", longest, "x" * 30_000]
    assert dictionary.notes == ("2 phrases of more than 1,000 tokens left out (first on line 2)",)


def test_a_file_that_is_one_long_phrase_is_counted_no_further_than_needed(monkeypatch):
    counted = []
    words = reading.words
    monkeypatch.setattr(reading, "words", lambda text: counted.append(len(text)) or words(text))
    with pytest.raises(InputError, match="holds no phrases: 1 phrase of more than 1,000 tokens"):
        read("T.txt", "(" * 900_000)
    assert sum(counted) <= 30_000


def test_type_with_a_space_is_kept_and_noted():
    dictionary = read("Cell  line.txt", "HeLa")
    assert dictionary.types == ("Cell line",)
    assert dictionary.notes == (
        'Label "Cell line" contains a space; it will be written as Cell_line in CoNLL.',
    )


def test_decoding_is_noted():
    dictionary = read_dictionary(SourceFile("T.txt", "Sjögren\n".encode("cp1252")))
    assert dictionary.phrases == (Phrase("Sjögren", "T", line=1),)
    assert "read as Windows-1252" in dictionary.notes[0]


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("T.txt", "", "T.txt is empty (0 bytes). Nothing was added"),
        ("T.txt", " \n\n", "T.txt is empty (3 bytes). Nothing was added"),
        ("T.txt", "\u00a0\n", "T.txt holds no phrases: only empty lines. Nothing was added"),
        (
            "T.txt",
            "# a\n\n#b\n",
            "T.txt holds no phrases: 2 comment lines skipped (first on line 1). Nothing was added",
        ),
        ("t.csv", "term,label\n", "t.csv holds no phrases: only a header line. Nothing was added"),
        (
            "t.csv",
            'term,label\n"",X\n',
            "t.csv holds no phrases: 1 empty phrase left out (first on line 2). Nothing was added",
        ),
        ("t.json", '{"A": []}', "t.json holds no phrases: only empty lists. Nothing was added"),
        (" .txt", "cold", 'the file name " .txt" gives no type. Rename it, e.g. Disease.txt'),
        (
            "d.dic",
            "cold",
            "d.dic is no dictionary that can be read. Supported: .txt .csv .tsv .json .jsonl .zip",
        ),
    ],
    ids=lambda value: None,
)
def test_file_without_phrases_is_an_error_that_says_what_it_holds(name, text, expected):
    assert message(name, text) == expected


def test_empty_entity_type_is_an_error():
    expected = "the entity type is empty. Name one, e.g. Disease"
    assert message("T.txt", "cold", entity_type=" ") == expected


# ---- columns --------------------------------------------------------------------------------


def test_csv_with_header_gives_phrases_types_and_ids():
    dictionary = read("d.csv", 'term,label,canonical_id\n"a, b",X,D1\nc,Y,\n')
    assert dictionary.phrases == (Phrase("a, b", "X", "D1", line=2), Phrase("c", "Y", line=3))
    assert dictionary.notes == ()


@pytest.mark.parametrize("term", ["term", "phrase", "surface", "Entity", "name", "synonym", "TEXT"])
@pytest.mark.parametrize("label", ["label", "type", "Category", "class", "entity_type"])
def test_csv_header_may_use_other_names_in_any_order(term, label):
    assert pairs(read("d.tsv", f"{label}\t{term}\nX\ta b\n")) == [("a b", "X")]


def test_csv_names_the_columns_it_does_not_use():
    dictionary = read("d.csv", "term,label,id,canonical_name,weight\na,X,7,Alpha,0.5\n")
    assert dictionary.phrases == (Phrase("a", "X", "7", line=2),)
    assert dictionary.notes == ("columns not used: canonical_name, weight",)


@pytest.mark.parametrize(
    "cells, match, notes",
    [
        (("true", "True"), MATCH_PRESETS["strict"], ()),
        (("false", "no"), MATCH_PRESETS["balanced"], ()),
        (("", ""), None, ()),
        (
            ("true", "false"),
            None,
            ("case_sensitive differs from row to row; it was ignored",),
        ),
        (("true", ""), None, ("case_sensitive differs from row to row; it was ignored",)),
    ],
)
def test_case_sensitive_column_counts_when_all_rows_agree(cells, match, notes):
    text = f"case_sensitive,term,label\n{cells[0]},a,X\n{cells[1]},b,X\n"
    dictionary = read("d.csv", text)
    assert (dictionary.match, dictionary.notes) == (match, notes)


def test_empty_terms_are_counted_with_their_first_line():
    dictionary = read("d.csv", "term,label\na,X\n ,X\n,Y\n")
    assert pairs(dictionary) == [("a", "X")]
    assert dictionary.notes == ("2 empty phrases left out (first on line 3)",)


def test_csv_without_a_label_column_is_an_error():
    assert message("data.csv", "term,source\n" + "a,s\nb,s\n" * 6) == (
        "12 terms have no label: data.csv has the columns term, source. "
        "Name one type for all of them (--type), or add a label column"
    )


def test_csv_with_empty_labels_is_an_error():
    assert message("data.csv", "term,label\na,X\nb,\n,\n") == (
        "1 term has no label (first on line 3): data.csv has the columns term, label. "
        "Name one type for all of them (--type), or fill the label column"
    )


def test_csv_labels_that_are_missing_take_the_type_given():
    dictionary = read("data.csv", "term,label,id\na,X,1\nb,,2\na,,\n", entity_type="X")
    assert dictionary.phrases == (Phrase("a", "X", "1", line=2), Phrase("b", "X", "2", line=3))
    assert dictionary.notes == ("1 duplicate phrase removed", "2 phrases had no label; took X")


def test_duplicates_that_disagree_about_the_id_are_counted_apart():
    dictionary = read("d.csv", "term,label,id\na,X,1\na,X,2\na,X,1\na,X,\n")
    assert dictionary.phrases == (Phrase("a", "X", "1", line=2),)
    assert dictionary.notes == (
        "1 duplicate phrase with another canonical_id removed (first on line 3)",
        "2 duplicate phrases removed, 1 phrase left",
    )


def test_same_phrase_under_two_types_is_kept_twice():
    text = "term,label\ncold,Disease\ncold,Symptom\n"
    assert pairs(read("d.csv", text)) == [("cold", "Disease"), ("cold", "Symptom")]


def test_csv_header_without_a_term_column_is_an_error():
    assert message("d.csv", "code,label\n1,X\n") == (
        "d.csv has the columns code, label: which one holds the phrases? Name that one term"
    )


@pytest.mark.parametrize("name", ["Disease.csv", "Disease.tsv"])
def test_one_column_takes_the_file_name_as_type(name):
    assert pairs(read(name, "cold\nflu\n")) == [("cold", "Disease"), ("flu", "Disease")]


def test_one_column_may_have_a_header():
    dictionary = read("Disease.csv", "term\ncold\n")
    assert pairs(dictionary) == [("cold", "Disease")]
    assert dictionary.notes == ("first line read as the column's name: term",)


AUTONER = "Disease\tcold\nDisease\tflu\nChemical\tlead\nDisease\tmumps\n"
INCEPTION = "cold\tDisease\nflu\tDisease\nlead\tChemical\nmumps\tDisease\n"
TYPED = [("cold", "Disease"), ("flu", "Disease"), ("lead", "Chemical"), ("mumps", "Disease")]


@pytest.mark.parametrize("name", ["d.tsv", "dict_core.txt", "d.csv"])
@pytest.mark.parametrize(
    "text, order",
    [
        (AUTONER, "the type first, then the phrase"),
        (INCEPTION, "the phrase first, then the type"),
    ],
    ids=["AutoNER", "INCEpTION"],
)
def test_two_columns_without_header_are_recognised(name, text, order):
    dictionary = read(name, text)
    assert pairs(dictionary) == TYPED
    assert dictionary.notes == (f"no header line; read as {order} (types: Chemical, Disease)",)


@pytest.mark.parametrize(
    "text, counts",
    [("cold\tDisease\nlead\tChemical\n", "2 and 2"), ("a\tX\nb\tY\nc\tX\n", "3 and 2")],
    ids=["all different", "nearly all different"],
)
def test_two_columns_that_could_be_either_are_an_error(text, counts):
    assert message("d.tsv", text) == (
        "d.tsv has two columns and no header, and either could be the type "
        f"({counts} different values). Add a header line such as term,label"
    )


def test_more_columns_without_header_are_an_error():
    assert message("d.csv", "cold,Disease,1\nflu,Disease,2\n") == (
        "d.csv has 3 columns, and its first line names none of them. "
        "Add a header line such as term,label"
    )


def test_type_called_entity_is_not_mistaken_for_a_header():
    dictionary = read("d.csv", "Acme,Entity\nApex,Entity\n")
    assert pairs(dictionary) == [("Acme", "Entity"), ("Apex", "Entity")]


def test_tabbed_text_may_hold_comments_and_quotes():
    dictionary = read("d.txt", '# list\nX\t5" nail\nX\t"a\n')
    assert pairs(dictionary) == [('5" nail', "X"), ('"a', "X")]
    assert "1 comment line skipped (first on line 1)" in dictionary.notes


def test_stray_tabs_in_a_list_are_white_space():
    assert pairs(read("T.txt", "cold\t\nflu\t\nswine\tflu\n")) == [
        ("cold", "T"),
        ("flu", "T"),
        ("swine flu", "T"),
    ]


def test_tabbed_text_with_a_short_line_is_an_error_or_is_skipped():
    text = "X\ta\nX\tb\nc\nX\td\n"
    assert message("d.txt", text) == (
        "d.txt line 3 has 1 fields, expected 2. Put one tab between fields, or skip bad lines"
    )
    dictionary = read("d.txt", text, options=ReadOptions(skip_bad_lines=True))
    assert pairs(dictionary) == [("a", "X"), ("b", "X"), ("d", "X")]
    assert "1 line of another width left out (first on line 3)" in dictionary.notes


def test_ragged_csv_is_an_error_that_names_the_line():
    assert message("d.csv", "term,label\na,X\nb,c,X\n").startswith(
        "d.csv line 3 has 3 fields, expected 2."
    )


# ---- JSON -----------------------------------------------------------------------------------


def test_json_lists_by_type():
    dictionary = read("d.json", '{"Disease": ["cold", " swine  flu ", 7], "Gene": ["TP53"]}')
    assert dictionary.phrases == (
        Phrase("cold", "Disease"),
        Phrase("swine flu", "Disease"),
        Phrase("TP53", "Gene"),
    )
    assert dictionary.notes == ("1 value without text left out",)


@pytest.mark.parametrize(
    "name, text",
    [
        ("d.json", '[{"term": "cold", "label": "Disease", "id": 3}]'),
        ("d.json", '{"Text": "cold", "Type": "Disease", "canonical_id": "3"}'),
        ("d.jsonl", '{"name": "cold", "category": "Disease", "id": "3"}\n'),
    ],
)
def test_json_records(name, text):
    assert read(name, text).phrases == (Phrase("cold", "Disease", "3", line=1),)


def test_json_case_sensitive_and_unused_fields():
    text = '[{"term": "a", "label": "X", "case_sensitive": true, "weight": 1}]'
    dictionary = read("d.json", text)
    assert dictionary.match == MATCH_PRESETS["strict"]
    assert dictionary.notes == ("fields not used: weight",)


def test_json_records_without_label_are_an_error():
    assert message("d.jsonl", '{"term": "a", "label": "X"}\n{"term": "b"}\n') == (
        "1 term has no label (first on line 2): d.jsonl has the fields label, term. "
        "Name one type for all of them (--type), or add a label to each record"
    )


def test_json_strings_take_the_type_given():
    assert pairs(read("d.json", '["a", "b"]', entity_type="X")) == [("a", "X"), ("b", "X")]
    assert message("d.json", '["a", "b"]').startswith(
        "2 terms have no label (first on line 1): d.json holds phrases only."
    )


def test_json_records_without_a_term_are_counted():
    dictionary = read("d.jsonl", '{"term": "a", "label": "X"}\n{"label": "X"}\n[1]\n')
    assert pairs(dictionary) == [("a", "X")]
    assert dictionary.notes == (
        "1 record without a term left out (first on line 2)",
        "1 value without text left out (first on line 3)",
    )


def test_patterns_of_words_become_phrases_and_others_stay_patterns():
    dictionary = read(
        "patterns.jsonl",
        '{"label": "ORG", "pattern": "Apple", "id": "apple"}\n'
        '{"label": "GPE", "pattern": [{"LOWER": "san"}, {"LOWER": "francisco"}]}\n'
        '{"label": "GPE", "pattern": [{"TEXT": "New"}, {"ORTH": "York"}]}\n'
        '{"label": "X", "pattern": [{"LOWER": "a", "OP": "+"}]}\n'
        '{"label": "X", "pattern": [{"LOWER": {"IN": ["a", "b"]}}]}\n'
        '{"label": "X", "pattern": [{"POS": "NOUN"}]}\n',
    )
    assert dictionary.phrases == (
        Phrase("Apple", "ORG", "apple", line=1),
        Phrase("san francisco", "GPE", line=2),
        Phrase("New York", "GPE", line=3),
        Phrase('tokens:[{"LOWER": "a", "OP": "+"}]', "X", line=4),
        Phrase('tokens:[{"LOWER": {"IN": ["a", "b"]}}]', "X", line=5),
    )
    lower, faulty = dictionary.notes
    assert lower == "1 pattern asks for LOWER; choose how case counts for the whole dictionary"
    assert faulty.startswith('line 6: the pattern tokens:[{"POS": "NOUN"}] asks for POS; a token')


# ---- many files -----------------------------------------------------------------------------


def test_many_files_get_distinct_names():
    files = [source("a/X.txt", "1"), source("b/X.txt", "2"), source("X.txt~2.txt", "3")]
    dictionaries = read_dictionaries([*files, source("X.txt", "4")])
    assert [d.name for d in dictionaries] == ["X.txt", "X.txt~2", "X.txt~2.txt", "X.txt~3"]


def test_archive_gives_one_dictionary_per_file_and_names_the_other_files():
    members = {"d/Disease.txt": "cold", "d/LICENSE": "free", "d/Gene.csv": "term,label\nTP53,Gene"}
    disease, gene = read_dictionaries([archive("all.zip", members)])
    assert (disease.name, pairs(disease)) == ("Disease.txt", [("cold", "Disease")])
    assert (gene.name, pairs(gene)) == ("Gene.csv", [("TP53", "Gene")])
    assert disease.notes == ('"d/LICENSE" in all.zip left out: no dictionary',)
    assert gene.notes == ()


def test_archive_without_a_dictionary_is_an_error():
    with pytest.raises(InputError, match=r"a.zip holds no dictionary. Supported: .txt .csv"):
        read_dictionaries([archive("a.zip", {"picture.bmp": "x"})])


# ---- any input ------------------------------------------------------------------------------


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("term", "label", "pattern", "id", "LOWER", "case_sensitive", "X")),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
any_text = st.text() | st.text('ab,;\t\n"# ') | json_values.map(json.dumps)


@given(any_text, st.sampled_from(["T.txt", "T.csv", "T.tsv", "T.json", "T.jsonl"]))
def test_any_text_is_read_or_refused_with_a_message(text, name):
    try:
        dictionary = read(name, text)
    except InputError as error:
        assert str(error)
        return
    phrases = pairs(dictionary)
    assert phrases and len(set(phrases)) == len(phrases)
    for phrase, entity_type in phrases:
        assert phrase and phrase == " ".join(phrase.split())
        assert entity_type and entity_type == " ".join(entity_type.split())


# ---- limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Disease.txt", "gout\n" * 4),
        ("a.csv", "term,label\ngout,Disease\nrash,Disease\nfever,Disease\n"),
        ("a.jsonl", '{"term": "gout", "label": "Disease"}\n' * 4),
        ("a.json", '{"Disease": ["gout", "rash", "fever", "gout"]}'),
    ],
)
def test_phrases_are_limited_in_every_layout(name, text):
    file = SourceFile(name, text.encode(), Limits(phrases=4))
    assert read_dictionary(file).phrases
    with pytest.raises(InputError) as caught:
        read_dictionary(replace(file, limits=Limits(phrases=3)))
    assert str(caught.value) == f"{name} holds more than 3 phrases. Split it into smaller files"
    assert caught.value.fix == "no_limits"


def test_a_list_that_is_too_long_is_refused_before_it_is_decoded():
    file = SourceFile("Disease.txt", b"x\n" * 2_000_000, Limits(phrases=10))
    with watched_memory() as memory, pytest.raises(InputError, match="more than 10 phrases"):
        read_dictionary(file)
    assert memory.peak < 2_000_000


def test_dictionaries_that_are_read_together_count_together():
    limits = Limits(phrases=3)
    files = [SourceFile(f"{name}.txt", b"gout\nrash\n", limits) for name in ("A", "B")]
    with pytest.raises(InputError, match=r"^B\.txt holds more than 3 phrases\."):
        read_dictionaries(files)
    both = archive("both.zip", {"A.txt": "gout\nrash\n", "B.txt": "gout\nrash\n"})
    with pytest.raises(InputError, match=r"^both\.zip holds more than 3 phrases\."):
        read_dictionaries([replace(both, limits=limits)])


# ---- folders ----------------------------------------------------------------------------------


def test_folder_stands_for_every_dictionary_in_it(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    names = ("b.txt", "a.csv", "deep/er/c.jsonl", ".hidden/d.txt", ".e.txt", "README.txt", "f.pdf")
    for name in names:
        (tmp_path / name).write_text("x")
    paths, notes = dictionary_paths([tmp_path, "other.txt"])
    assert [path.as_posix() for path in paths] == [
        *(f"{tmp_path.as_posix()}/{name}" for name in ("a.csv", "b.txt", "deep/er/c.jsonl")),
        "other.txt",
    ]
    assert notes == (f'"README.txt", "f.pdf" in {tmp_path} left out: no dictionary',)


def test_many_other_files_are_one_short_note(tmp_path):
    for number in range(8):
        (tmp_path / f"{number}.pdf").write_text("x")
    (tmp_path / "a.txt").write_text("x")
    _, [note] = dictionary_paths([tmp_path])
    assert '"4.pdf" and 3 more files in' in note and "5.pdf" not in note


def test_folder_without_a_dictionary_is_refused(tmp_path):
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(InputError, match=r"holds no dictionary\. Supported: \.txt .*\.zip$"):
        dictionary_paths([tmp_path])


def test_folder_with_too_many_files_is_refused(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("x")
    with pytest.raises(InputError, match="holds more than 2 files; name the dictionaries"):
        dictionary_paths([tmp_path], Limits(zip_members=2))
