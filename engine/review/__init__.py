"""What people decide: queues of items to review, decisions, and new dictionary phrases.

items       what several methods find, as items to decide on
queues      the orders of a review
decisions   what was decided; rows are only added
progress    which items are left
merged      decisions, predictions and dictionary matches as one set
enrichment  found phrases that the dictionaries lack
missing     likely names that the dictionaries lack, before any training
"""

from engine.review.decisions import (
    KINDS,
    NAME_COUNTS,
    VERDICTS,
    Decision,
    Review,
    answers,
    append_decision,
    append_undo,
    append_undos,
    decisions_in_force,
    effect,
    judgements,
)
from engine.review.enrichment import (
    KnownPhrases,
    add_phrases,
    context,
    dictionary_candidates,
    fold_surface,
    known_phrases,
    mark_known,
)
from engine.review.items import DICTIONARY, Item, Items, Numbers, count_finds, make_items
from engine.review.merged import reviewed_entities
from engine.review.missing import MISSING_COLUMNS, missing_names, ranked_by_likeness, suggestions
from engine.review.progress import (
    ReviewProgress,
    acceptable,
    measure_progress,
    pending,
    phrase_history,
)
from engine.review.queues import ORDERS, lot, make_queue

__all__ = [
    "DICTIONARY",
    "KINDS",
    "MISSING_COLUMNS",
    "NAME_COUNTS",
    "ORDERS",
    "VERDICTS",
    "Decision",
    "Item",
    "Items",
    "KnownPhrases",
    "Numbers",
    "Review",
    "ReviewProgress",
    "acceptable",
    "add_phrases",
    "answers",
    "append_decision",
    "append_undo",
    "append_undos",
    "context",
    "count_finds",
    "decisions_in_force",
    "dictionary_candidates",
    "effect",
    "fold_surface",
    "judgements",
    "known_phrases",
    "lot",
    "make_items",
    "make_queue",
    "mark_known",
    "measure_progress",
    "missing_names",
    "pending",
    "phrase_history",
    "ranked_by_likeness",
    "reviewed_entities",
    "suggestions",
]
