"""Find what hurts most in dictionaries, from the text and the phrases alone; offer to mend it.

Every reason to doubt gives a match a probability of being wrong: 0.9 for what a person would call
wrong at first sight, 0.5 where it may be either. These are not fitted to gold; but which reasons
there are, and when they apply, was decided after looking at gold (see bench/results/health.md).
An entry joins the spellings of one phrase. It proposes the change that is expected to remove more
wrong matches than right ones, and nothing if there is none.
"""

from collections.abc import Collection, Sequence

from engine.dictionaries import Dictionary
from engine.health.entries import Health
from engine.health.families import find_families
from engine.health.inverted import find_inverted
from engine.health.kinds import find_kinds
from engine.health.reasons import Reasons
from engine.health.word_counts import WordCounts
from engine.labels import DistantLabels, DoubtfulPhrase
from engine.system import without_collection
from engine.text import Sentence


def check_health(
    dictionaries: Sequence[Dictionary],
    labels: DistantLabels,
    sentences: Sequence[Sentence],
    *,
    doubtful: Sequence[DoubtfulPhrase] = (),
    kept: Collection[str] = (),
) -> Health:
    """Return what likely matches wrongly, the most wrong matches first; no gold is needed.

    `doubtful` are phrases that the text contradicts, once a job has found them. Entries whose key
    is in `kept` are left out: a person decided to keep them.
    """
    with without_collection():
        text = WordCounts(sentences)
        families = find_families(labels, sentences)
        reasons = Reasons(dictionaries, labels, text, families, doubtful)
        entries = [
            entry for family in families.values() if (entry := reasons.entry(family)) is not None
        ]
        kinds = find_kinds(dictionaries, families, kept)
    entries.sort(key=lambda entry: (-entry.wrong, entry.phrases))
    if (inverted := find_inverted(dictionaries, text)) is not None:
        entries.append(inverted)
    return Health(tuple(entry for entry in entries if entry.key not in kept), kinds)
