"""Glossa: a dictionary and raw text become a named-entity tagger, without annotations.

import glossa

corpus = glossa.read_corpus("notes.txt")
dictionaries = glossa.read_dictionaries(["Chemical.txt", "Disease.txt"])
tagger = glossa.train(corpus, dictionaries, save_to="my-tagger")
glossa.write_corpus(glossa.predict(tagger, corpus), "entities.csv")
"""

from pathlib import Path

import engine

# `engine` is a common name: a folder of that name where Python was started would be taken for ours.
if Path(engine.__file__).resolve().parents[1] != Path(__file__).resolve().parents[1]:
    raise ImportError(
        f"glossa needs its own package `engine`, but Python found {engine.__file__} first; "
        "start Python in another folder or rename that one"
    )

from engine import *  # noqa: F403
from engine import __all__ as __all__
