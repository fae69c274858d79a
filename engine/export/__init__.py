"""What leaves Glossa: the choice of entities, summaries, dictionaries, and checked files.

choice              which entities, of which run and method
selection           filters by type, score and document
verification        a written file, read again and checked
summaries           tables of methods and phrases
dictionary_writing  dictionaries as CSV or patterns
estimate            scores of a method from a judged sample
"""

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
from engine.export.estimate import MEASURE, estimated_scores, measured_source, measured_units
from engine.export.selection import Selection
from engine.export.summaries import write_comparison, write_surfaces
from engine.export.verification import Verification, verify

__all__ = [
    "DICTIONARY",
    "EXPORTED",
    "GOLD",
    "MEASURE",
    "METHOD_ORDER",
    "REVIEWED",
    "RUN",
    "ChosenEntities",
    "EntitySets",
    "ExportChoice",
    "Selection",
    "Verification",
    "by_trust",
    "choose_entities",
    "count_entities",
    "default_method",
    "default_run",
    "estimated_scores",
    "filter_entities",
    "measured_source",
    "measured_units",
    "methods_with_entities",
    "note_export",
    "offered",
    "runs_with_entities",
    "verify",
    "with_known",
    "write_comparison",
    "write_patterns",
    "write_phrases",
    "write_surfaces",
]
