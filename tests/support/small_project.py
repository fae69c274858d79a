"""A project that trains in seconds: forty planted sentences, two dictionaries, gold."""

import json

import numpy as np

from engine.files.sources import SourceFile
from engine.jobs.requests import TrainRequest
from engine.projects.workspace import create_project
from tests.support.planted import Planted

TINY = {
    "word_vectors": "none",
    "hidden_size": 8,
    "character_size": 8,
    "batch_size": 8,
    "epochs": 2,
    "confidence_epochs": 2,
    "learning_rate": 0.01,
    "loss": "mae",  # and a weight: with less, two epochs find nothing
    "entity_weight": 15.0,
    "confidence_weight": 10.0,
    "is_one_sample": False,
    "lexicon_dropout": 0.0,
    "contextual_layer": 0,
    "confidence_model": "network",  # its two epochs are as fast, and it can be resumed
    "is_label_checked": False,
    "is_suited_to_labels": False,
    "is_self_trained": False,
    "joining_probability": 0.5,
}
PRIORS = {"Drug": 0.1, "Disease": 0.1}  # given, since an estimate takes longer than the training


def make_small_project(name="Small", sentence_count=40, has_gold=True):
    """Return a project of planted sentences, one document each, with the names that are known."""
    planted = Planted(sentence_count=sentence_count)
    sizes = [len(tokens) for tokens in planted.sentences]
    starts = np.cumsum([0, *sizes])
    lines, known, gold = [], {"Drug": set(), "Disease": set()}, ["doc_id,start,end,label"]
    for i, tokens in enumerate(planted.sentences):
        lines.append(json.dumps({"id": f"d{i}", "text": " ".join(tokens)}))
        offset = 0
        for token, label, truth in zip(
            tokens,
            planted.labels[starts[i] : starts[i + 1]],
            planted.gold[starts[i] : starts[i + 1]],
            strict=True,
        ):
            if label:
                known[planted.data.types[label - 1]].add(token)
            if truth:
                entity_type = planted.data.types[truth - 1]
                gold.append(f"d{i},{offset},{offset + len(token)},{entity_type}")
            offset += len(token) + 1
    project = create_project(name)
    project.add_text([source("text.jsonl", lines)])
    dictionaries = [source(f"{name}.txt", sorted(words)) for name, words in known.items()]
    project.add_dictionaries(dictionaries)
    if has_gold:
        project.set_gold([source("gold.csv", gold)])
    return project


def source(name, lines):
    return SourceFile(name, "\n".join(lines).encode())


def tiny_request(**changes):
    """Return a training of MPN that takes a second, changed as asked."""
    settings = TINY | changes.pop("settings", {})
    request = {"methods": ("mpn",), "preset": "quick", "priors": PRIORS, **changes}
    return TrainRequest(settings=settings, **request)
