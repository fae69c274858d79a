"""Glossa's engine: a dictionary and raw text become a named-entity tagger.

The packages lie along the data path, and each imports only those before it:

    settings, system, text, files, formats, dictionaries, labels, scoring, planning, run_folder,
    network, learning, experiment (read it first), runs, review, projects, jobs, export, library,
    cli

The names below are the library that `import glossa` offers.
"""

from engine.dictionaries import Dictionary
from engine.library import (
    evaluate,
    label,
    labeled,
    load_run,
    predict,
    read_corpus,
    read_dictionaries,
    train,
    write_corpus,
)
from engine.projects import Project
from engine.settings import Settings
from engine.text import Corpus, Document, Entity, InputError

__all__ = [
    "Corpus",
    "Dictionary",
    "Document",
    "Entity",
    "InputError",
    "Project",
    "Settings",
    "evaluate",
    "label",
    "labeled",
    "load_run",
    "predict",
    "read_corpus",
    "read_dictionaries",
    "train",
    "write_corpus",
]
