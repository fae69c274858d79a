"""Glossa's engine: a dictionary and raw text become a named-entity tagger.

The packages lie along the data path, and each imports only those before it:

    settings      every setting, its allowed values and its presets
    system        the machine: moments, processes, notes on standard error
    text          documents, sentences, tokens and spans
    files         bytes, archives, CSV and JSON; writing files whole
    formats       one module per file format
    dictionaries  phrases with types: read, checked, edited
    labels        dictionaries and text become distant labels
    health        which phrases likely match wrongly, and what to do about them
    scoring       how right labels and predictions are; gold enters here
    planning      the methods, the class priors, a forecast
    run_folder    a run on disk, without torch
    network       what a tagger sees, and what it is
    learning      risks, the training loop, confidence, decoding
    experiment    READ FIRST: prepare, run, predict, score
    runs          save, load and compare runs; curves
    shards        corpora of many files, on this machine or a cluster
    review        what people decide about entities
    projects      a folder and a database per project
    jobs          training and prediction in processes of their own
    export        what leaves Glossa
    portable      a trained tagger in the forms that other tools load
    service       a trained tagger over HTTP
    guide         what to do next, and which method to take
    library       the functions of `import glossa`
    cli           the command `glossa`

The names below are the library that `import glossa` offers.
"""

from engine.dictionaries import Dictionary
from engine.library import (
    add_opinion,
    advice,
    candidates,
    compare_on_hidden_phrases,
    download_encoder,
    encoders,
    evaluate,
    export_model,
    health,
    label,
    label_with_opinion,
    labeled,
    load_onnx,
    load_run,
    measure,
    mend,
    mute,
    next_steps,
    opinions,
    predict,
    read_corpus,
    read_dictionaries,
    remove_opinion,
    serve,
    suggest,
    train,
    twin,
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
    "add_opinion",
    "advice",
    "candidates",
    "compare_on_hidden_phrases",
    "download_encoder",
    "encoders",
    "evaluate",
    "export_model",
    "health",
    "label",
    "label_with_opinion",
    "labeled",
    "load_onnx",
    "load_run",
    "measure",
    "mend",
    "mute",
    "next_steps",
    "opinions",
    "predict",
    "read_corpus",
    "read_dictionaries",
    "remove_opinion",
    "serve",
    "suggest",
    "train",
    "twin",
    "write_corpus",
]
