"""A slow matcher, written from the rules alone, to check the fast one against."""

from dataclasses import replace

from engine.dictionaries.folding import fold


def is_exact_acronym(phrase, options):
    letters = [c for c in phrase if c.isalpha()]
    is_short = 0 < len(letters) <= options.exact_acronym_letters
    return options.ignore_case and is_short and all(c.isupper() for c in letters)


def folded(tokens, options):
    return [form for token in tokens if (form := fold(token, options))]


def has_no_capital_less(phrase_tokens, tokens, options):
    """Return whether every letter that is a capital in the phrase is one in the text."""
    exact = replace(options, ignore_case=False)
    phrase, text = ("".join(folded(side, exact)) for side in (phrase_tokens, tokens))
    if len(phrase) != len(text):
        return text.isupper()
    return not any(a.isupper() and not b.isupper() for a, b in zip(phrase, text, strict=True))


def stands_at(phrase, phrase_tokens, tokens, options, is_careful=False):
    """Return whether these tokens are the phrase; hyphens inside a token may differ."""
    edges = (tokens[0], tokens[-1])
    if not all(fold(token, options) for token in edges):
        return False
    if is_exact_acronym(phrase, options):
        options = replace(options, ignore_case=False)
    wanted = folded(phrase_tokens, options)
    if not wanted or folded(tokens, options) != wanted:
        return False
    return not is_careful or has_no_capital_less(phrase_tokens, tokens, options)


def all_matches(tokens, phrases, options, folding=()):
    """Return (start, end, type) of every occurrence of the phrases (phrase, tokens, type).

    Adaptive options ignore letter case only in the types of `folding`.
    """
    return {
        (start, end, entity_type)
        for start in range(len(tokens))
        for end in range(start + 1, len(tokens) + 1)
        for phrase, phrase_tokens, entity_type in phrases
        if stands_at(
            phrase,
            phrase_tokens,
            tokens[start:end],
            options,
            is_careful=options.is_adaptive and entity_type not in folding,
        )
    }


def kept_matches(tokens, phrases, options, priority=lambda entity_type: 0):
    """Return the matches that count, and those that lost to another type."""
    matches = all_matches(tokens, phrases, options)
    taken = []
    for entity_type in sorted({match[2] for match in matches}):
        position = 0
        while position < len(tokens):
            ends = [e for s, e, t in matches if s == position and t == entity_type]
            if ends:
                taken.append((position, max(ends), entity_type))
                position = max(ends)
            else:
                position += 1
    taken.sort(key=lambda m: (m[0] - m[1], -priority(m[2]), m[0], m[2]))
    kept, lost = [], []
    for match in taken:
        is_free = all(match[1] <= other[0] or other[1] <= match[0] for other in kept)
        (kept if is_free else lost).append(match)
    return sorted(kept), sorted(lost)
