"""Distant labels: match dictionary phrases in text, settle conflicts, and measure coverage.

vocabulary     tokens as numbers, in the form in which they are compared
phrase_index   every place of many phrases in a text of such numbers
matching       every place of the dictionaries' phrases in sentences
patterns       where patterns match, within a limit of time
placed         phrases that match only at given places
resolution     which of them count, and why the others do not
abbreviations  short forms that a sentence defines, "atrial fibrillation (AF)"
adaptation     letter case per type and abbreviations, as the text decides
distant        one class per token, and every match behind it
variants       labels that only letter case or abbreviations gave
relabeling     the labels after a phrase was muted, without matching again
corrections    the labels after a person's decisions
coverage       how much of the text is labeled
changes        what differs between two sets of labels
phrase_tables  how often each phrase matches
token_columns  all tokens of a text as numbers
candidates     frequent names that nothing matches
name_likeness  how much unlabeled words look like matches, and of which type
likely         unlabeled tokens that a linear model finds likely, and their names
"""

from engine.labels.abbreviations import find_definitions, find_short_forms, is_short_form
from engine.labels.adaptation import LOWER_SHARE, Abbreviation, Adaptation, CaseDecision
from engine.labels.candidates import likeness_of_names, looks_like_a_name, missing_candidates
from engine.labels.changes import Changes, change_examples, label_changes
from engine.labels.corrections import correct_labels
from engine.labels.coverage import (
    Coverage,
    coverage_along,
    coverage_by_dictionary,
    coverage_by_type,
    matches_per_sentence,
    measure_coverage,
    phrase_usage,
)
from engine.labels.distant import (
    ALSO_COLUMNS,
    MATCH_COLUMNS,
    SHORTER_COLUMNS,
    DistantLabels,
    Labeler,
    SpellingCounts,
    conflicts,
    decide_cases,
    dictionary_entities,
    label,
    match_options,
    paint,
)
from engine.labels.likely import (
    LIKELY,
    DoubtfulPhrase,
    LikelyName,
    LikelyTokens,
    likely_histogram,
    likely_names,
    words_near_cut,
)
from engine.labels.matching import Matcher, is_indexed
from engine.labels.phrase_tables import dictionary_table, length_table, phrase_table, rank_table
from engine.labels.relabeling import labels_after_muting
from engine.labels.resolution import KEPT, OUTCOMES, SAME_TYPE, Choice, Rules
from engine.labels.variants import ABBREVIATION, LETTER_CASE, added_labels

__all__ = [
    "ABBREVIATION",
    "ALSO_COLUMNS",
    "KEPT",
    "LETTER_CASE",
    "LIKELY",
    "LOWER_SHARE",
    "MATCH_COLUMNS",
    "OUTCOMES",
    "SAME_TYPE",
    "SHORTER_COLUMNS",
    "Abbreviation",
    "Adaptation",
    "CaseDecision",
    "Changes",
    "Choice",
    "Coverage",
    "DistantLabels",
    "DoubtfulPhrase",
    "Labeler",
    "LikelyName",
    "LikelyTokens",
    "Matcher",
    "Rules",
    "SpellingCounts",
    "added_labels",
    "change_examples",
    "conflicts",
    "correct_labels",
    "coverage_along",
    "coverage_by_dictionary",
    "coverage_by_type",
    "decide_cases",
    "dictionary_entities",
    "dictionary_table",
    "find_definitions",
    "find_short_forms",
    "is_indexed",
    "is_short_form",
    "label",
    "label_changes",
    "labels_after_muting",
    "length_table",
    "likely_histogram",
    "likely_names",
    "likeness_of_names",
    "looks_like_a_name",
    "match_options",
    "matches_per_sentence",
    "measure_coverage",
    "missing_candidates",
    "paint",
    "phrase_table",
    "phrase_usage",
    "rank_table",
    "words_near_cut",
]
