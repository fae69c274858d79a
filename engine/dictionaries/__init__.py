"""Dictionaries: phrases with entity types, read from files, folded, checked and edited.

model     phrases, dictionaries, and the hash of their content
reading   files of phrases into dictionaries, with notes
layouts   lines and columns into phrases
records   JSON into phrases
folding   the form in which phrases and text are compared
patterns  regular expressions and token patterns
audit     phrases that are likely to match wrongly
editing   join, retype, mute, unmute and move
"""

from engine.dictionaries.audit import (
    audit_dictionaries,
    general_share,
    is_common_word,
    is_stop_phrase,
    is_stop_word,
    is_unit,
    phrase_flags,
)
from engine.dictionaries.editing import (
    PhraseRow,
    as_never,
    clean_type,
    find_phrases,
    join,
    list_phrases,
    match_as_written,
    mute,
    mute_phrases,
    mute_short_forms,
    mute_texts,
    relabel_phrases,
    retype,
    unmute_phrases,
    with_own_names,
)
from engine.dictionaries.folding import (
    EXACT,
    MORE_CAPITALS,
    OTHER_CASE,
    begins_lower,
    fold,
    is_acronym,
    singular,
    spelling,
)
from engine.dictionaries.model import (
    NEVER,
    Dictionary,
    Phrase,
    Place,
    active_phrases,
    active_types,
    enabled_phrases,
    fingerprint,
    first_share,
    never_lists,
    type_name,
)
from engine.dictionaries.patterns import (
    REGEX,
    Expression,
    TokenPattern,
    compile_pattern,
    is_pattern,
    token_rules,
)
from engine.dictionaries.reading import (
    DICTIONARY_ENDINGS,
    dictionary_paths,
    is_dictionary_name,
    is_too_long,
    read_dictionaries,
    read_dictionary,
)

__all__ = [
    "DICTIONARY_ENDINGS",
    "EXACT",
    "MORE_CAPITALS",
    "NEVER",
    "OTHER_CASE",
    "REGEX",
    "Dictionary",
    "Expression",
    "Phrase",
    "PhraseRow",
    "Place",
    "TokenPattern",
    "active_phrases",
    "active_types",
    "as_never",
    "audit_dictionaries",
    "begins_lower",
    "clean_type",
    "compile_pattern",
    "dictionary_paths",
    "enabled_phrases",
    "find_phrases",
    "fingerprint",
    "first_share",
    "fold",
    "general_share",
    "is_acronym",
    "is_common_word",
    "is_dictionary_name",
    "is_pattern",
    "is_stop_phrase",
    "is_stop_word",
    "is_too_long",
    "is_unit",
    "join",
    "list_phrases",
    "match_as_written",
    "mute",
    "mute_phrases",
    "mute_short_forms",
    "mute_texts",
    "never_lists",
    "phrase_flags",
    "read_dictionaries",
    "read_dictionary",
    "relabel_phrases",
    "retype",
    "singular",
    "spelling",
    "token_rules",
    "type_name",
    "unmute_phrases",
    "with_own_names",
]
