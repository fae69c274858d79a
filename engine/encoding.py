"""The first bytes of a file tell its encoding; what is told when a later byte does not fit it."""

import codecs

from engine.text import InputError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose little-endian mark is the first half of this one.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
HEAD_BYTES = 4_000  # of a file, enough to tell its encoding by them
AROUND = 12  # characters shown on either side of one that is not UTF-8


def encoding_by_head(head: bytes, size: int) -> tuple[str, tuple[str, ...]]:
    """Return what the first bytes of a file say about its encoding, and a note if it is a guess.

    UTF-8 when they say nothing; it may still turn out to be Windows-1252.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name, ()
    guess = _utf16_without_mark(head, size)
    return (guess, (f"read as {guess.upper()}",)) if guess else ("utf-8", ())


def _utf16_without_mark(head: bytes, size: int) -> str | None:
    """Mostly-Latin UTF-16 has a NUL in every second byte, always on the same side."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if size % 2 == 0 and max(even, odd) > len(head) * 0.3 and min(even, odd) == 0:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


# ---- what is told ---------------------------------------------------------------------------


def empty_file(name: str, size: int) -> InputError:
    """Return what to tell when a file holds no text."""
    return InputError(f"{name} is empty ({size} bytes). Nothing was added")


def wrong_encoding(name: str, encoding: str, byte: int, position: int) -> InputError:
    """Return what to tell when a byte is not of the encoding that was named or marked."""
    return InputError(
        f"{name} is not {encoding} (byte 0x{byte:02X} at position {position:,}). "
        "Name the right encoding, or save the file as UTF-8",
        fix="encoding",
    )


def of_no_encoding(name: str, byte: int, position: int) -> InputError:
    """Return what to tell when a file is of none of the encodings that are tried."""
    return InputError(
        f"{name} is not UTF-8 (byte 0x{byte:02X} at position {position:,}), nor Windows-1252. "
        "Save it as UTF-8, or name its encoding",
        fix="encoding",
    )


def read_as_windows_1252(byte: int, position: int, around: str) -> str:
    """Return the note on a file that is not UTF-8, with a word that shows whether it is right."""
    word = max(around.split(), key=lambda w: sum(not c.isascii() for c in w), default="")
    return (
        f"is not UTF-8 (byte 0x{byte:02X} at position {position:,}); read as Windows-1252, "
        f'e.g. "{word}". If that looks wrong, name its encoding'
    )


def holds_nul(name: str, line: int, position: int) -> InputError:
    """Return what to tell when there is a NUL among the characters of a text."""
    return InputError(
        f"{name} line {line:,} holds a NUL byte (character {position:,}), so it is not "
        "plain text. Save it as text again, or remove that byte"
    )
