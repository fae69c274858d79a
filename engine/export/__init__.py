"""What leaves Glossa: the choice of entities, summaries, dictionaries, and checked files.

choice              which entities, of which run and method
selection           filters by type, score and document
verification        a written file, read again and checked
summaries           tables of methods and phrases
dictionary_writing  dictionaries as CSV or patterns
estimate            scores of a method from a judged sample
card                what made an export, as JSON beside it
model_forms         forms of a trained tagger for other tools
"""

from engine.export.card import (
    CARD_ENDING,
    card_bytes,
    curve_card,
    model_card,
    prediction_card,
    project_card,
    summary_card,
    write_export_card,
)
from engine.export.choice import (
    DICTIONARY,
    EXPORTED,
    GOLD,
    METHOD_ORDER,
    REVIEWED,
    RUN,
    ChosenEntities,
    EntitySets,
    ExportChoice,
    by_trust,
    choose_entities,
    count_entities,
    default_method,
    default_run,
    filter_entities,
    methods_with_entities,
    note_export,
    offered,
    runs_with_entities,
    with_known,
)
from engine.export.dictionary_writing import write_patterns, write_phrases
from engine.export.estimate import (
    JUDGING_COLUMNS,
    MEASURE,
    Measured,
    estimated_scores,
    judging_rows,
    measure,
    measured_source,
    measured_units,
    store_answers,
)
from engine.export.model_forms import MODEL_FORMS, ModelForm
from engine.export.selection import Selection
from engine.export.summaries import write_comparison, write_surfaces
from engine.export.verification import Verification, verify

__all__ = [
    "CARD_ENDING",
    "DICTIONARY",
    "EXPORTED",
    "GOLD",
    "JUDGING_COLUMNS",
    "MEASURE",
    "METHOD_ORDER",
    "MODEL_FORMS",
    "REVIEWED",
    "RUN",
    "ChosenEntities",
    "EntitySets",
    "ExportChoice",
    "Measured",
    "ModelForm",
    "Selection",
    "Verification",
    "by_trust",
    "card_bytes",
    "choose_entities",
    "count_entities",
    "curve_card",
    "default_method",
    "default_run",
    "estimated_scores",
    "filter_entities",
    "judging_rows",
    "measure",
    "measured_source",
    "measured_units",
    "methods_with_entities",
    "model_card",
    "note_export",
    "offered",
    "prediction_card",
    "project_card",
    "runs_with_entities",
    "store_answers",
    "summary_card",
    "verify",
    "with_known",
    "write_comparison",
    "write_export_card",
    "write_patterns",
    "write_phrases",
    "write_surfaces",
]
