import pytest

from engine.dictionaries.model import NEVER
from engine.dictionaries.patterns import PatternError, compile_pattern, token_pattern_text
from engine.dictionaries.reading import read_dictionary
from engine.files.sources import SourceFile
from engine.text.model import InputError


def read(name, text, **keywords):
    return read_dictionary(SourceFile(name, text.encode()), **keywords)


def longest(pattern, tokens):
    """The longest match from each token, as text."""
    compiled = compile_pattern(token_pattern_text(pattern))
    ends = [compiled.end(tokens, start) for start in range(len(tokens))]
    return [" ".join(tokens[start:end]) for start, end in enumerate(ends) if end > start]


TOKENS = ["The", "IL", "-", "12", "and", "il", "2", ",", "about", "Three", "Mg"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ([{"LOWER": "il"}], ["IL", "il"]),
        ([{"TEXT": "IL"}], ["IL"]),
        ([{"ORTH": "il"}], ["il"]),
        ([{"lower": "il"}, {"TEXT": "-", "OP": "?"}, {"IS_DIGIT": True}], ["IL - 12", "il 2"]),
        ([{"LOWER": {"IN": ["il", "mg"]}}], ["IL", "il", "Mg"]),
        ([{"LOWER": {"NOT_IN": ["il"]}, "IS_ALPHA": True, "IS_TITLE": False}], ["and", "about"]),
        ([{"TEXT": {"REGEX": "^[IM]"}}], ["IL", "Mg"]),
        ([{"IS_UPPER": True}], ["IL"]),
        ([{"IS_LOWER": True}, {"LIKE_NUM": True}], ["il 2", "about Three"]),
        ([{"IS_PUNCT": True}], ["-", ","]),
        ([{"SHAPE": "Xx"}], ["Mg"]),
        ([{"SHAPE": "dd"}], ["12"]),
        ([{"LENGTH": 5}], ["about", "Three"]),
        ([{"LENGTH": {">=": 3, "<": 5}}], ["The", "and"]),
        ([{"LOWER": "il"}, {"OP": "!", "IS_DIGIT": True}], ["IL -"]),
        ([{"IS_ALPHA": True, "OP": "+"}, {"TEXT": ","}], []),
        ([{"TEXT": "and"}, {"IS_PUNCT": False, "OP": "*"}], ["and il 2"]),
        ([{"TEXT": "and"}, {"OP": "{2}"}], ["and il 2"]),
        ([{"TEXT": "and"}, {"OP": "{,2}", "IS_ALPHA": True}], ["and il"]),
        ([{}, {"TEXT": "2"}], ["il 2"]),
    ],
)
def test_token_pattern_matches_as_many_tokens_as_it_can(pattern, found):
    assert longest(pattern, TOKENS) == found


def test_token_pattern_with_many_ways_through_takes_no_exponential_time():
    tokens = ["a"] * 200
    assert longest([{"TEXT": "a", "OP": "*"}] * 20 + [{"TEXT": "b"}], tokens) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("re:(", r"does not compile \(missing \)"),
        ("re:" + "x" * 2000, "is longer than 2,000 characters"),
        ("re:  ", "is empty"),
        ("tokens:[{", "is no list in JSON"),
        ("tokens:[]", "names no token"),
        ('tokens:["a"]', "has a token that is no JSON object"),
        ('tokens:[{"POS": "NOUN"}]', "asks for POS; a token has only TEXT, ORTH, LOWER"),
        ('tokens:[{"LOWER": 3}]', "has LOWER without a text"),
        ('tokens:[{"LOWER": {"REGEX": "("}}]', "does not compile"),
        ('tokens:[{"LOWER": {"FUZZY": "a"}}]', "has LOWER with FUZZY; use a text, REGEX"),
        ('tokens:[{"IS_ALPHA": "yes"}]', "has IS_ALPHA without true or false"),
        ('tokens:[{"LENGTH": "3"}]', "has LENGTH without a whole number"),
        ('tokens:[{"OP": "x"}]', "has the OP 'x'; use !"),
        ('tokens:[{"OP": "{9,3}"}]', "which no text can fit"),
        ('tokens:[{"OP": "{999}"}]', "which no text can fit"),
        ('tokens:[{"TEXT": "a", "OP": "*"}]', "asks for no token that must be there"),
    ],
)
def test_pattern_that_cannot_be_used_says_why(text, reason):
    with pytest.raises(PatternError, match=reason):
        compile_pattern(text)


def test_patterns_are_read_from_lists_and_tables():
    listed = read("Protein.txt", "albumin\nre: IL-\\d+  x \n")
    assert [p.text for p in listed.phrases] == ["albumin", "re: IL-\\d+  x"]
    table = read("a.csv", 'term,label\n"re:[A-Z]{2,4}",Gene\nzinc,Drug\n')
    assert [(p.text, p.entity_type) for p in table.phrases] == [
        ("re:[A-Z]{2,4}", "Gene"),
        ("zinc", "Drug"),
    ]


def test_faulty_patterns_are_left_out_with_their_line_and_the_others_stay():
    dictionary = read("Protein.txt", "albumin\nre:(\nre:IL-\\d+\nre:[\n")
    assert [p.text for p in dictionary.phrases] == ["albumin", "re:IL-\\d+"]
    first, second = dictionary.notes
    assert first.startswith("line 2: the pattern re:( does not compile (missing )")
    assert first.endswith("; left out") and second.startswith("line 4: the pattern re:[ does not")
    with pytest.raises(
        InputError, match=r"Protein.txt holds no phrases: line 1: the pattern re:\("
    ):
        read("Protein.txt", "re:(\n")


def test_many_faulty_patterns_are_counted():
    dictionary = read("Protein.txt", "albumin\n" + "\n".join(f"re:({i}" for i in range(30)))
    assert len(dictionary.notes) == 21
    assert dictionary.notes[-1] == "10 more patterns cannot be used; left out"


@pytest.mark.parametrize("name", ["never", "Never", "NEVER an  Entity"])
def test_type_never_is_one_of_a_kind(name):
    assert read("a.csv", f"term,label\nlead,{name}\nzinc,Drug\n").types == ("Drug", NEVER)
    assert read(f"{name}.txt", "lead\n").types == (NEVER,)
    assert read("b.txt", "lead\n", entity_type=name).notes == ()
