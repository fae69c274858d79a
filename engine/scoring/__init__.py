"""How right labels and predictions are: against gold, a judged sample, or each other.

Gold enters the engine here, and nowhere before.

    metrics            precision, recall, F1 and kinds of errors
    places             precision and recall of labels, for a large text
    checking, judged   precision from a sample that a person judged, without gold
    judged_units, judged_estimate   precision, recall and F1 from such a sample
    marks, pool        entities as columns; which method marks which place
    agreement          where entity sets agree and where they do not
    bootstrap          confidence intervals
    hidden_phrases     which method finds hidden phrases again, without gold
    seen               recall on entities in the dictionaries, and on the others
    calibration, confidence_scores   how reliable scores and confidences are
"""

from engine.scoring.agreement import (
    Filter,
    agreement_matrix,
    changed_entities,
    combinations,
    confusion,
    entity_counts,
    found_alone,
    matching_sentences,
    types_at,
)
from engine.scoring.bootstrap import ALL_TYPES, MACRO, Scored, difference, score_pool, score_table
from engine.scoring.calibration import calibration_error, reliability, score_histogram
from engine.scoring.checking import (
    Judgement,
    Judgements,
    Place,
    checked_precision,
    checked_precisions,
    draw_sample,
    joined_flags,
    judgements_from_gold,
    kept_matches,
    mixed,
    noisy_phrases,
)
from engine.scoring.confidence_scores import score_confidence, score_confidence_of_documents
from engine.scoring.hidden_phrases import (
    HIDDEN_CAUTION,
    HIDDEN_SHARE,
    FoundAgain,
    Hidden,
    are_comparable,
    best_of,
    check_hidden_share,
    common_rate,
    epochs_advice,
    find_again,
    hidden_words,
    hide_phrases,
    is_surely_more,
    suggested_epochs,
)
from engine.scoring.judged import judged_precision
from engine.scoring.judged_estimate import JudgedScores, Share, judged_scores, to_judge
from engine.scoring.judged_units import (
    MOST_NAMES,
    PASSAGE,
    Answer,
    Units,
    answers_from_gold,
    make_units,
    shuffled,
)
from engine.scoring.marks import Marks, marks_of_labels
from engine.scoring.metrics import (
    NONE,
    Evaluation,
    GoldSpans,
    Scores,
    SpansBySentence,
    compare_entities,
    evaluate,
    evaluate_documents,
    evaluate_spans,
    gold_spans,
    overall,
    score_record,
)
from engine.scoring.places import GoldPlaces, gold_places, score_labels
from engine.scoring.pool import Pool, choose, on_tokens, pool_entities, within
from engine.scoring.seen import seen_places, seen_recall

__all__ = [
    "ALL_TYPES",
    "HIDDEN_CAUTION",
    "HIDDEN_SHARE",
    "MACRO",
    "MOST_NAMES",
    "NONE",
    "PASSAGE",
    "Answer",
    "Evaluation",
    "Filter",
    "FoundAgain",
    "GoldPlaces",
    "GoldSpans",
    "Hidden",
    "JudgedScores",
    "Judgement",
    "Judgements",
    "Marks",
    "Place",
    "Pool",
    "Scored",
    "Scores",
    "Share",
    "SpansBySentence",
    "Units",
    "agreement_matrix",
    "answers_from_gold",
    "are_comparable",
    "best_of",
    "calibration_error",
    "changed_entities",
    "check_hidden_share",
    "checked_precision",
    "checked_precisions",
    "choose",
    "combinations",
    "common_rate",
    "compare_entities",
    "confusion",
    "difference",
    "draw_sample",
    "entity_counts",
    "epochs_advice",
    "evaluate",
    "evaluate_documents",
    "evaluate_spans",
    "find_again",
    "found_alone",
    "gold_places",
    "gold_spans",
    "hidden_words",
    "hide_phrases",
    "is_surely_more",
    "joined_flags",
    "judged_precision",
    "judged_scores",
    "judgements_from_gold",
    "kept_matches",
    "make_units",
    "marks_of_labels",
    "matching_sentences",
    "mixed",
    "noisy_phrases",
    "on_tokens",
    "overall",
    "pool_entities",
    "reliability",
    "score_confidence",
    "score_confidence_of_documents",
    "score_histogram",
    "score_labels",
    "score_pool",
    "score_record",
    "score_table",
    "seen_places",
    "seen_recall",
    "shuffled",
    "suggested_epochs",
    "to_judge",
    "types_at",
    "within",
]
