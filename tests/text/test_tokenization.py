import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st

from engine.settings import LIMITS
from engine.text.tokenization import (
    _split,
    make_document,
    make_tokenized_document,
    split_sentences,
    tokenize,
)
from tests.support.counting import SlicedText, count_calls

# Letters, sentence ends and every kind of space and mark that shifts an offset when mishandled.
PIECES = (
    "a", "Word", "7", ".", "!", "?", "-", "/", "(", ")", '"', "“", "«", "Dr.", "e.g.", "。",
    "é", "e\u0301", "\u0301", "𝒜", "😀", "👩\u200d👧", "🇨🇭", "שלום", "مرض", "\u202e", "東",
    "カ\u3099", " ", "  ", "\t", "\u00a0", "\u3000", "\u200b", "\u200d", "\ufeff", "\u00ad",
    "\u2028", "\u2029", "\u0085", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\x00", "\x0b", "\x0c",
    "\x1c", "\x1f", "\x7f", "\x9f", "\ue000", "\U0010ffff", "\ud800",
)  # fmt: skip
ANY_TEXT = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=40).map("".join)
FIVE_MB = 5_000_000


def without_space(text):
    return "".join(text.split())


def sentences_of(text):
    return [text[start:end] for start, end in split_sentences(text)]


# ---- tokens ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("Selegiline-induced", "Selegiline|-|induced"),
        ("and/or w/v", "and|/|or|w|/|v"),
        ("3.5 %", "3|.|5|%"),
        ("IL-2Rα", "IL|-|2Rα"),
        ("(5,000 IU)", "(|5|,|000|IU|)"),
        ("don't", "don|'|t"),
        ("snake_case", "snake|_|case"),
        ("10⁹/L", "10⁹|/|L"),
        ("東京タワーへ", "東|京|タ|ワ|ー|へ"),
        ("東京2020", "東|京|2020"),
        ("カ\u3099ス", "カ\u3099|ス"),
        ("한국어 텍스트", "한국어|텍스트"),
        ("cafe\u0301s", "cafe\u0301s"),
        ("ha\u0308mo\u0302", "ha\u0308mo\u0302"),
        ("שָׁלוֹם", "שָׁלוֹם"),
        ("😀😀 ok", "😀|😀|ok"),
        ("𝒜𝒷", "𝒜𝒷"),
        ("zero\u200bwidth", "zero\u200bwidth"),
        ("a\u00a0b\u2028c\x1cd", "a|b|c|d"),
        (" \t\n", ""),
        ("", ""),
    ],
)
def test_tokenize(text, tokens):
    assert list(tokenize(text)[0]) == [token for token in tokens.split("|") if token]


@given(ANY_TEXT)
def test_tokens_cover_every_visible_character_once_in_order(text):
    tokens, starts = tokenize(text)
    position = 0
    for token, start in zip(tokens, starts, strict=True):
        assert text[start : start + len(token)] == token
        assert token and not text[position:start].strip()
        position = start + len(token)
    assert not text[position:].strip()
    assert "".join(tokens) == without_space(text)


# ---- sentences ------------------------------------------------------------------------------


@given(ANY_TEXT)
def test_sentences_are_trimmed_apart_in_order_and_cover_all_visible_text(text):
    bounds = split_sentences(text)
    position = 0
    for start, end in bounds:
        assert position <= start < end
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@given(ANY_TEXT)
def test_document_sentences_are_slices_and_their_tokens_stand_at_their_starts(text):
    document = make_document("d", text)
    assert [sentence.index for sentence in document.sentences] == [*range(len(document.sentences))]
    for sentence in document.sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.starts[0] == 0 and sentence.end > sentence.start
        for token, start in zip(sentence.tokens, sentence.starts, strict=True):
            assert sentence.text.startswith(token, start)
    tokens = [token for sentence in document.sentences for token in sentence.tokens]
    assert "".join(tokens) == without_space(text)


@pytest.mark.parametrize(
    "blank",
    ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\r\n  \r\n", "\n\u00a0\n", "\n\n\n\n"],
    ids=["lf", "crlf", "cr", "lf spaces", "crlf spaces", "nbsp", "many"],
)
@pytest.mark.parametrize("before", ["a title", "in case of", "Dr.", "he said (and"])
def test_a_blank_line_always_ends_a_sentence(before, blank):
    assert sentences_of(f"{before}{blank}and more") == [before, "and more"]


@given(ANY_TEXT, ANY_TEXT)
def test_no_sentence_reaches_over_a_blank_line(before, after):
    text = f"{before}x\n\ny{after}"
    assert not any(start <= len(before) < end - 2 for start, end in split_sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Roy saw the patient.",
        "Some drugs, e.g. Aspirin, were stopped.",
        "It was given i.v. daily for a week.",
        "As shown in Fig. 2 the dose was halved.",
        "Cohn et al. Described it first.",
        "It fell to 3.5 mg per day.",
        "A line that is\nwrapped in the middle.",
    ],
)
def test_abbreviations_and_wrapped_lines_do_not_end_a_sentence(text):
    assert sentences_of(text) == [text]


def test_split_sentences_separates_sentences():
    assert sentences_of("It rose. It fell!  Did it? Yes.") == [
        "It rose.",
        "It fell!",
        "Did it?",
        "Yes.",
    ]
    assert sentences_of("漢字。仮名。") == ["漢字。", "仮名。"]


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\u2028\u0085"])
def test_a_text_of_white_space_has_no_sentence(text):
    assert split_sentences(text) == []
    assert not make_document("d", text).sentences


# ---- documents ------------------------------------------------------------------------------


def test_a_very_long_sentence_is_cut_at_the_limit_and_counted():
    words = [f"w{i}" for i in range(2 * LIMITS.sentence_tokens + 1)]
    document = make_document("d", "Short. " + "  ".join(words))
    assert document.cut_sentences == 1
    assert [len(s.tokens) for s in document.sentences] == [2, 1000, 1000, 1]
    assert [token for s in document.sentences[1:] for token in s.tokens] == words
    for sentence in document.sentences:
        assert document.text[sentence.start : sentence.end] == sentence.text
        assert sentence.text.startswith(sentence.tokens[-1], sentence.starts[-1])


def test_a_sentence_exactly_at_the_limit_is_left_whole():
    document = make_document("d", " ".join(["w"] * LIMITS.sentence_tokens))
    assert (len(document.sentences), document.cut_sentences) == (1, 0)


def work_of(text, monkeypatch):
    """Count what reading `text` takes: calls, characters copied, steps of the splitter."""
    steps = []

    def split(language, view, split=sentencex.get_sentence_boundaries):
        steps.append(len(view) ** 2)  # its time can grow with the square of what it is shown
        return split(language, view)

    with monkeypatch.context() as patch:
        patch.setattr(sentencex, "get_sentence_boundaries", split)
        sliced = SlicedText(text)
        calls = count_calls(make_document, "d", sliced)
    return {"calls": calls, "copied": sliced.copied, "steps": sum(steps)}


@pytest.mark.parametrize(
    "unit",
    ["aspirin fever ", "abcde12345", ".", "ab\u200b\u200d. ", "漢字仮名交じりの文を書く。", "“",
     "He said “no way. ", "One.\n\nTwo"],
    ids=["words", "no spaces", "only dots", "zero-width mix", "chinese sentences",
         "opening quotes", "quotes never closed", "paragraphs"],
)  # fmt: skip
def test_twice_the_text_takes_at_most_twice_the_work(unit, monkeypatch):
    size = 50_000 // len(unit)
    once, twice = (work_of(unit * size * factor, monkeypatch) for factor in (1, 2))
    assert min(once.values()) > 0
    for kind, count in twice.items():
        assert count < 2.2 * once[kind], kind


@pytest.mark.parametrize(
    "unit, token_count",
    [
        ("aspirin fever ", FIVE_MB // 14 * 2),
        ("abcde12345", 1),
        (".", FIVE_MB),
        ("ab\u200b\u200d. ", FIVE_MB // 6 * 2),
    ],
    ids=["words", "no spaces", "only dots", "zero-width mix"],
)
def test_five_megabytes_on_one_line_are_read(unit, token_count):
    text = unit * (FIVE_MB // len(unit))
    document = make_document("d", text)
    assert document.text == text
    assert sum(len(sentence.tokens) for sentence in document.sentences) == token_count
    position = 0
    for sentence in document.sentences:
        assert document.text.startswith(sentence.text, sentence.start)
        assert position <= sentence.start
        position = sentence.end
        assert sentence.text.startswith(sentence.tokens[-1], sentence.starts[-1])


@pytest.mark.parametrize(
    "unit, sentence_count",
    [("漢字仮名交じりの文を書く。", 40_000), ("“", 520), ("He said “no way. ", 30_588)],
    ids=["chinese sentences", "opening quotes", "quotes never closed"],
)
def test_half_a_million_characters_of_other_scripts_and_quotes_are_read(unit, sentence_count):
    document = make_document("d", unit * (520_000 // len(unit)))
    assert len(document.sentences) == sentence_count
    assert "".join(s.text for s in document.sentences).replace(" ", "") == without_space(
        document.text
    )


def test_a_long_paragraph_is_split_as_its_parts_would_be():
    sentences = [f"Patient {i} had a “mild” rash (see Fig. 2) on day {i}." for i in range(1_000)]
    assert sentences_of(" ".join(sentences)) == sentences


def test_make_tokenized_document_keeps_tokens_and_their_offsets():
    document = make_tokenized_document("d", [("IL-2", "5.5"), (), ("😀", "na ïve", "x")])
    assert document.text == "IL-2 5.5\n😀 na ïve x"
    assert document.tokens_given
    first, second = document.sentences
    assert (first.tokens, first.starts, first.start) == (("IL-2", "5.5"), (0, 5), 0)
    assert (second.tokens, second.starts, second.start) == (("😀", "na ïve", "x"), (0, 2, 9), 9)
    assert (second.index, document.text[second.start : second.end]) == (1, "😀 na ïve x")


@given(st.text("ab 1Z", max_size=40))
def test_the_short_cut_for_plain_words_splits_as_the_splitter_does(text):
    assert split_sentences(text) == list(_split(text))


def test_make_tokenized_document_of_nothing_is_empty():
    document = make_tokenized_document("d", [])
    assert (document.text, len(document.sentences)) == ("", 0)
