"""Keep every message to one line of at most 300 characters, whatever names from files are in it."""

import re

LONGEST_MESSAGE = 300
_LONGEST_QUOTE = 60  # characters of a quoted value, and of a word, in a message that is too long
_END = 110  # characters kept at the end of a message that is too long: they say what to do

_WHITE_SPACE = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")
# Control characters, marks that reverse the direction of text, and halves of surrogate pairs, which
# no file or terminal can hold.
_UNSHOWABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_QUOTE = re.compile(rf'"[^"]{{{_LONGEST_QUOTE + 1},}}"')
_WORD = re.compile(rf"\S{{{_LONGEST_QUOTE + 1},}}")


def one_line(message: str) -> str:
    """Return a message as one line that can be shown anywhere; its middle is cut if it is too long.

    Quoted values are shortened first, then long words such as paths.

    >>> one_line("no column\\nnamed a\\x00b")
    'no column named a\\ufffdb'
    >>> one_line(f'No column "{"x" * 400}". Name one of these')[-30:]
    'xxxxxxxxx…". Name one of these'
    """
    line = _UNSHOWABLE.sub("\ufffd", _WHITE_SPACE.sub(" ", message))
    if len(line) > LONGEST_MESSAGE:
        line = _QUOTE.sub(lambda match: f'{match[0][:_LONGEST_QUOTE]}…"', line)
    if len(line) > LONGEST_MESSAGE:
        line = _WORD.sub(_shortened, line)
    if len(line) > LONGEST_MESSAGE:
        line = f"{line[: LONGEST_MESSAGE - _END - 3].rstrip()} … {line[-_END:].lstrip()}"
    return line


def _shortened(match: re.Match[str]) -> str:
    """Return both ends of a word, because that of a path names the file."""
    half = _LONGEST_QUOTE // 2
    return f"{match[0][: half - 1]}…{match[0][-half:]}"
