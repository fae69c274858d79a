"""Every knob a person can turn before learning starts, its default, and the limits on uploads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """How freely a dictionary phrase may differ from the text and still match."""

    ignore_case: bool = True  # "Aspirin" matches "aspirin"
    exact_acronym_letters: int = 4  # "AIDS" must not match "aids": all-capital phrases this short
    ignore_unicode_form: bool = True  # composed or decomposed accents, ligatures, zero-width marks
    ignore_accents: bool = False  # "Sjogren" matches "Sjögren"
    ignore_plurals: bool = False  # "tumor" matches "tumors"
    ignore_hyphens: bool = False  # "beta blocker" matches "beta-blocker"

    def __post_init__(self) -> None:
        if self.exact_acronym_letters < 0:
            raise ValueError(
                f"exact_acronym_letters must be 0 or more, got {self.exact_acronym_letters}"
            )


MATCH_PRESETS: dict[str, MatchOptions] = {
    # The benchmark's rule: the very same tokens, letter by letter.
    "strict": MatchOptions(ignore_case=False, exact_acronym_letters=0, ignore_unicode_form=False),
    "balanced": MatchOptions(),
    "loose": MatchOptions(ignore_accents=True, ignore_plurals=True, ignore_hyphens=True),
}
DEFAULT_MATCH_PRESET = "balanced"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read files whose layout cannot be told from the file alone."""

    text_column: str | None = None  # CSV/TSV/JSON: the column that holds the text
    id_column: str | None = None  # CSV/TSV/JSON: the column that holds the document id
    lines_are_documents: bool = False  # .txt: one document a line instead of one a file
    encoding: str | None = None  # overrides detection, e.g. "shift_jis"
    skip_bad_lines: bool = False  # leave out lines that can't be read, and count them


@dataclass(frozen=True, slots=True)
class Limits:
    """What an upload may weigh; beyond it a message says so and nothing is read."""

    file_mb: int = 200  # one file, as uploaded
    zip_members: int = 5_000  # files in one archive
    zip_unpacked_mb: int = 600  # all files of one archive, unpacked
    sentence_tokens: int = 1_000  # a longer sentence is cut here, and counted


LIMITS = Limits()
