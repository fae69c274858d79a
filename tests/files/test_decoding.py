import pytest

from engine.files.decoding import Decoded, decode
from engine.files.sources import SourceFile
from engine.files.text_files import open_text
from engine.text.model import InputError
from tests.support.archives import zipped

UNMARKED = "Fever and rash."
NUL_MESSAGE = (
    r"a\.txt line 2 holds a NUL byte \(character 7\), so it is not plain text\. "
    r"Save it as text again, or remove that byte"
)


def office(*names, name):
    return SourceFile(name, zipped([(member, b"<x/>") for member in names]).data)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("Größe 😀\r\n".encode(), "utf-8"),
        ("Größe 😀\r\n".encode("utf-8-sig"), "utf-8-sig"),
        (b"\xff\xfe" + "Größe 😀\r\n".encode("utf-16-le"), "utf-16"),
        (b"\xfe\xff" + "Größe 😀\r\n".encode("utf-16-be"), "utf-16"),
        (b"\xff\xfe\0\0" + "Größe 😀\r\n".encode("utf-32-le"), "utf-32"),
        (b"\0\0\xfe\xff" + "Größe 😀\r\n".encode("utf-32-be"), "utf-32"),
    ],
    ids=["plain", "utf-8 mark", "utf-16-le mark", "utf-16-be mark", "utf-32-le mark", "utf-32-be"],
)
def test_decode_finds_the_encoding_and_keeps_line_ends(data, encoding):
    assert decode(SourceFile("a.txt", data)) == Decoded("Größe 😀\r\n", encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_decode_detects_utf_16_without_a_byte_order_mark_and_says_so(encoding):
    decoded = decode(SourceFile("a.txt", UNMARKED.encode(encoding)))
    assert decoded == Decoded(UNMARKED, encoding, (f"read as {encoding.upper()}",))


def test_decode_falls_back_to_windows_1252_and_shows_a_word():
    decoded = decode(SourceFile("a.txt", "It was a naïve reading".encode("windows-1252")))
    note = (
        'is not UTF-8 (byte 0xEF at position 11); read as Windows-1252, e.g. "naïve". '
        "If that looks wrong, name its encoding"
    )
    assert decoded == Decoded("It was a naïve reading", "windows-1252", (note,))


def test_decode_names_the_byte_when_no_encoding_fits():
    with pytest.raises(InputError) as caught:
        decode(SourceFile("a.txt", b"x" * 1204 + b"\x81 fever"))
    assert str(caught.value) == (
        "a.txt is not UTF-8 (byte 0x81 at position 1,204), nor Windows-1252. "
        "Save it as UTF-8, or name its encoding"
    )


def test_decode_uses_the_encoding_that_is_named():
    decoded = decode(SourceFile("a.txt", "発熱".encode("shift_jis")), "shift_jis")
    assert decoded == Decoded("発熱", "shift_jis")


def test_decode_names_the_byte_that_a_named_encoding_cannot_hold():
    with pytest.raises(InputError, match=r"a\.txt is not ascii \(byte 0xC3 at position 2\)\. Name"):
        decode(SourceFile("a.txt", "naïve".encode()), "ascii")


def test_decode_counts_the_mark_when_it_names_a_byte():
    with pytest.raises(InputError, match=r"a\.txt is not utf-8-sig \(byte 0xE9 at position 5\)"):
        decode(SourceFile("a.txt", b"\xef\xbb\xbfab\xe9cd"))


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "undefined", "ut\0f"])
def test_decode_refuses_encodings_that_are_not_for_text(encoding):
    with pytest.raises(InputError, match='" is not an encoding; try utf-8, utf-16') as error:
        decode(SourceFile("a.txt", b"fever"), encoding)
    assert str(error.value).startswith(f'"{encoding}"'.replace("\0", "\ufffd"))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["without mark", "with mark"])
def test_decode_refuses_a_nul_byte(mark):
    with pytest.raises(InputError, match=NUL_MESSAGE):
        decode(SourceFile("a.txt", mark + b"fever\nr\0sh and more"))


def test_decode_refuses_nul_in_utf_16():
    with pytest.raises(InputError, match=NUL_MESSAGE):
        decode(SourceFile("a.txt", "fever\nr\0sh and more".encode("utf-16")))


@pytest.mark.parametrize(
    "data",
    [b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xff\xfe"],
    ids=["no bytes", "white space", "utf-8 mark alone", "utf-16 mark alone"],
)
def test_decode_refuses_a_file_without_text(data):
    with pytest.raises(InputError) as caught:
        decode(SourceFile("a.txt", data))
    assert str(caught.value) == f"a.txt is empty ({len(data)} bytes). Nothing was added"


# ---- binary files under text names ----------------------------------------------------------


WORD = ("[Content_Types].xml", "word/document.xml")
EXCEL = ("[Content_Types].xml", "xl/workbook.xml")
OPEN_DOCUMENT = ("mimetype", "content.xml")


@pytest.mark.parametrize("extension", [".txt", ".csv", ".jsonl"])
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (office(*WORD, name="x").data, "a Word file"),
        (office(*EXCEL, name="x").data, "an Excel file"),
        (office("ppt/presentation.xml", name="x").data, "a PowerPoint file"),
        (office(*OPEN_DOCUMENT, name="x").data, "an OpenDocument file"),
        (office("a.txt", name="x").data, "a zip archive"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"GIF89a\x01\0\x01\0", "a GIF image"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "a gzip archive"),
        (b"BZh91AY&SY\0\0", "a bzip2 archive"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF file"),
        (b"PAR1\x15\x04\x15\0", "a Parquet file"),
        (b"SQLite format 3\0\x10", "a SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word or Excel file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_decode_says_what_kind_of_binary_a_text_name_hides(data, kind, extension):
    with pytest.raises(InputError) as caught:
        decode(SourceFile(f"report{extension}", data))
    assert str(caught.value) == (
        f"report{extension} is {kind}. Save its content as .txt or .csv and try again. Supported: "
        ".txt .csv .tsv .jsonl .json .conll .bio .iob .iob2 .pubtator .ann .spacy .parquet .zip"
    )


@pytest.mark.parametrize(
    "text",
    ["PAR1 is a receptor.", "BZhang wrote this.", "GIF8 is a gene.", "SQLite format 3 is old."],
)
def test_decode_reads_text_that_begins_like_a_binary_file(text):
    assert decode(SourceFile("a.txt", text.encode())).text == text


@pytest.mark.parametrize(
    ("encoding", "data", "place"),
    [
        (
            "raw_unicode_escape",
            b"ab\nc\\ud800d",
            "line 2 holds half a surrogate pair (character 4)",
        ),
        ("unicode_escape", b"ab\\udc00", "line 1 holds half a surrogate pair (character 2)"),
        ("utf-7", b"a\n\n+2AA-b", "line 3 holds half a surrogate pair (character 3)"),
        ("utf7", b"+3AA-", "line 1 holds half a surrogate pair (character 0)"),
    ],
)
def test_half_a_surrogate_pair_is_refused_with_its_line(encoding, data, place):
    with pytest.raises(InputError) as error:
        decode(SourceFile("a.txt", data), encoding)
    assert str(error.value) == (
        f"a.txt {place} when it is read as {encoding}. "
        "Name the right encoding, or correct that character"
    )
    assert error.value.fix == "encoding"
    with pytest.raises(InputError, match="half a surrogate pair"):
        open_text(SourceFile("a.txt", data), encoding)


def test_a_whole_surrogate_pair_is_a_character():
    assert decode(SourceFile("a.txt", b"+2D3eAA-"), "utf-7").text == "😀"


@pytest.mark.parametrize("encoding", ["punycode", "idna", "undefined"])
def test_codecs_that_are_not_for_files_are_refused(encoding):
    with pytest.raises(InputError, match=f'"{encoding}" is not an encoding'):
        decode(SourceFile("a.txt", b"abc-"), encoding)
