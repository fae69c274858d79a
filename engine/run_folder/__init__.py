"""The folder of a trained run, without torch.

card         the names of its files, its checkpoints, and its card (run.json)
checking     whether the files of a run are as we write them
origin       whether the run was imported, and what it may use on this machine
predictions  what the run predicts, as a Parquet file
result_card  the card beside a result: what made it
"""

from engine.run_folder.card import (
    CONFIDENCE,
    ENCODER,
    EXPORTED_PREDICTIONS,
    LEXICON,
    PREDICTIONS,
    Card,
    checkpoint_path,
    checkpoints,
    confidence_beside,
    confidence_checkpoint,
    confidence_files,
    damaged,
    delete_checkpoints,
    has_card,
    is_checkpoint,
    read_card,
    remove_card,
    run_name,
    tagger_checkpoint,
    tagger_path,
    write_card,
    write_json,
)
from engine.run_folder.checking import check_runs, check_size, read_confidence, read_lexicon_record
from engine.run_folder.origin import (
    allow,
    is_allowed,
    mark_imported,
    names_elsewhere,
    refuse_unasked,
    to_ask,
    to_ask_of_run,
)
from engine.run_folder.predictions import read_entities, read_marks, write_predictions
from engine.run_folder.result_card import (
    dictionary_facts,
    file_names,
    glossa_version,
    new_card,
    run_facts,
    text_facts,
)

__all__ = [
    "CONFIDENCE",
    "ENCODER",
    "EXPORTED_PREDICTIONS",
    "LEXICON",
    "PREDICTIONS",
    "Card",
    "allow",
    "check_runs",
    "check_size",
    "checkpoint_path",
    "checkpoints",
    "confidence_beside",
    "confidence_checkpoint",
    "confidence_files",
    "damaged",
    "delete_checkpoints",
    "dictionary_facts",
    "file_names",
    "glossa_version",
    "has_card",
    "is_allowed",
    "is_checkpoint",
    "mark_imported",
    "names_elsewhere",
    "new_card",
    "read_card",
    "read_confidence",
    "read_entities",
    "read_lexicon_record",
    "read_marks",
    "refuse_unasked",
    "remove_card",
    "run_facts",
    "run_name",
    "tagger_checkpoint",
    "tagger_path",
    "text_facts",
    "to_ask",
    "to_ask_of_run",
    "write_card",
    "write_json",
    "write_predictions",
]
