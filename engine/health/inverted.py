"""Inverted names ("insulin, neutral"), and their natural order."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from engine.dictionaries import Dictionary, Phrase, active_phrases, is_stop_word
from engine.health.entries import ADD, SHOWN_EXAMPLES, Example, HealthEntry, Pair
from engine.health.word_counts import WordCounts


def natural_order(text: str) -> str:
    """Return an inverted name in natural order; "" for a phrase that is none.

    >>> natural_order("insulin, neutral"), natural_order("N,N-dimethyl"), natural_order("insulin")
    ('neutral insulin', '', '')
    """
    first, comma, last = text.partition(", ")
    words = f"{last} {first}".split()
    is_plain = all(word.replace("-", "").replace("'", "").isalpha() for word in words)
    if not comma or not is_plain or any(is_stop_word(word.casefold()) for word in last.split()):
        return ""
    return " ".join(words)


def find_inverted(dictionaries: Sequence[Dictionary], text: WordCounts) -> HealthEntry | None:
    """Return the names whose natural order the text has and the dictionaries lack."""
    maybe: list[Pair] = []  # the text has all their words
    for dictionary in dictionaries:
        for phrase in active_phrases(dictionary):
            natural = natural_order(phrase.text) if ", " in phrase.text else ""
            if natural and all(word in text.counts for word in natural.casefold().split()):
                maybe.append((natural, phrase.entity_type))
    held = {p.text.casefold() for d in dictionaries for p in d.phrases} if maybe else set()
    wanted: dict[tuple[str, ...], list[Pair]] = {}
    for natural, entity_type in maybe:
        if natural.casefold() not in held:
            words = tuple(natural.casefold().split())
            wanted.setdefault(words, []).append((natural, entity_type))
    examples: list[Example] = []
    pairs: dict[Pair, None] = {}
    count = 0
    beginning: dict[str, list[tuple[str, ...]]] = {}
    for words in wanted:
        beginning.setdefault(words[0], []).append(words)
    for i, sentence in enumerate(text.sentences if wanted else ()):
        tokens = tuple(token.casefold() for token in sentence.tokens)
        for start, token in enumerate(tokens):
            for words in beginning.get(token, ()):
                if tokens[start : start + len(words)] == words:
                    count += 1
                    pairs |= dict.fromkeys(wanted[words])
                    examples.append(Example(i, start, start + len(words)))
    if not pairs:
        return None
    reason = "The dictionary has them inverted, with a comma; the text writes them in this order."
    shown = tuple(examples[:SHOWN_EXAMPLES])
    return HealthEntry("inverted names", reason, tuple(pairs), count, 0.0, ADD, shown)


def with_natural_order(dictionary: Dictionary, added: Collection[Pair]) -> Dictionary:
    """Return the dictionary with these names added, if it has them inverted."""
    held = {(phrase.text, phrase.entity_type) for phrase in dictionary.phrases}
    new: dict[Pair, Phrase] = {}
    for phrase in dictionary.phrases if added else ():
        if ", " in phrase.text:
            pair = (natural_order(phrase.text), phrase.entity_type)
            if pair in added and pair not in held:
                new.setdefault(pair, replace(phrase, text=pair[0]))
    return replace(dictionary, phrases=(*dictionary.phrases, *new.values())) if new else dictionary
