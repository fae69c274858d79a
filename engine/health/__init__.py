"""Dictionary health: phrases that likely match wrongly, found without gold, and how to mend them.

entries      one phrase in all its spellings, and what to do about it
word_counts  how often words stand in the text, and in which letter case
families     the spellings of a phrase, and their matches
heads        words that end many longer phrases
reasons      what speaks against a match
inverted     names with a comma, and their natural order
ids          ids with dots as places in a tree
kinds        names that end with the same word, or lie in one branch
check        what hurts most
mending      dictionaries, changed as entries propose
"""

from engine.health.check import check_health
from engine.health.entries import ADD, AS_WRITTEN, KEEP, MUTE, Example, Health, HealthEntry, Kind
from engine.health.inverted import natural_order
from engine.health.mending import mend

__all__ = [
    "ADD",
    "AS_WRITTEN",
    "KEEP",
    "MUTE",
    "Example",
    "Health",
    "HealthEntry",
    "Kind",
    "check_health",
    "mend",
    "natural_order",
]
