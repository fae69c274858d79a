"""Label text with dictionaries: one class per token, 0 for unlabeled, and every match behind it."""

import gc
import multiprocessing
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import EXACT, OTHER_CASE, Dictionary, active_phrases
from engine.labels.adaptation import (
    Adaptation,
    CaseDecision,
    count_spelled,
    decide_case,
    find_abbreviations,
)
from engine.labels.matching import Matcher
from engine.labels.resolution import KEPT, OUTCOMES, SAME_TYPE, Match, Resolver
from engine.settings import DEFAULT_MATCH_PRESET, MATCH_PRESETS, MatchOptions
from engine.text import Document, Entity, InputError, Sentence, Span

MATCH_COLUMNS = ("sentence", "start", "end", "type", "phrase", "outcome", "winner")
ALSO_COLUMNS = ("match", "phrase")
SHORTER_COLUMNS = ("sentence", "start", "end", "phrase")
_PLACE_COLUMNS = ("sentence", "start", "end", "phrase", "spelling")
_CHUNK_TOKENS = 200_000


@dataclass(frozen=True, slots=True)
class DistantLabels:
    """The labels of all sentences end to end, and every match behind them."""

    types: tuple[str, ...]  # class i is types[i - 1]
    labels: npt.NDArray[np.int16]  # (tokens,)
    bounds: npt.NDArray[np.int64]  # (sentences + 1,): sentence i is labels[bounds[i]:bounds[i+1]]
    # One row per match, kept or lost: sentence, start, end (token indices), type (class), phrase
    # (row of `phrases`), outcome (see resolution.OUTCOMES), winner (row of `matches`, or -1).
    matches: pd.DataFrame
    also: pd.DataFrame  # match, phrase: further phrases with the same tokens and type
    phrases: pd.DataFrame  # phrase, entity_type, canonical_id, dictionary
    # sentence, start, end, phrase: phrases that do not match because a longer phrase of their type
    # begins at the same token. Together with the matches, every occurrence of a phrase.
    shorter: pd.DataFrame
    dictionaries: tuple[str, ...] = ()  # all names, also of dictionaries without an active phrase
    adaptation: Adaptation | None = None  # what the text decided; None if no option is adaptive

    @property
    def folding(self) -> frozenset[str]:
        """The types whose adaptive phrases ignore letter case."""
        return self.adaptation.folding if self.adaptation else frozenset()

    @property
    def kept(self) -> pd.DataFrame:
        return self.matches[self.matches["outcome"] == KEPT]

    def of_sentence(self, i: int) -> npt.NDArray[np.int16]:
        """Return the labels of sentence `i`."""
        return self.labels[self.bounds[i] : self.bounds[i + 1]]

    def spans(self) -> list[list[Span]]:
        """Return the kept matches as spans, one list per sentence."""
        spans: list[list[Span]] = [[] for _ in range(len(self.bounds) - 1)]
        kept = self.kept
        for i, start, end, type_number in zip(
            *(kept[name].tolist() for name in ("sentence", "start", "end", "type")), strict=True
        ):
            spans[i].append(Span(start, end, self.types[type_number - 1]))
        return spans


def match_options(match: MatchOptions | str) -> MatchOptions:
    """Return the options of a match preset, or the options given; InputError for another name."""
    if not isinstance(match, str):
        return match
    if match not in MATCH_PRESETS:
        names = ", ".join(MATCH_PRESETS)
        raise InputError(f'"{match}" is not a match preset; choose one of {names}')
    return MATCH_PRESETS[match]


def label(
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    options: MatchOptions | str = DEFAULT_MATCH_PRESET,
    *,
    workers: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> DistantLabels:
    """Return the distant labels of the documents' sentences, in order.

    `on_progress` is called with the number of sentences done since the last call. More than one
    worker forks this process, which is safe only while it has no other threads.
    """
    return Labeler(dictionaries, options).label(documents, workers=workers, on_progress=on_progress)


class SpellingCounts(NamedTuple):
    """How often each phrase stands in a text away from the start of a sentence.

    -1 for phrases whose letter case the text does not decide. Counts of parts of a text add up.
    """

    exact: npt.NDArray[np.int32]  # (phrases,), as the phrase is spelled
    other: npt.NDArray[np.int32]  # (phrases,), with fewer capitals


class Labeler:
    """Dictionaries that are indexed once, to label one part of a large corpus after another."""

    def __init__(
        self, dictionaries: Sequence[Dictionary], options: MatchOptions | str = DEFAULT_MATCH_PRESET
    ) -> None:
        self._dictionaries, self._default = dictionaries, match_options(options)
        self._resolvers: dict[bool, Resolver] = {}  # by whether the tokens are given
        self._phrases: pd.DataFrame | None = None

    def label(
        self,
        documents: Sequence[Document],
        cases: Sequence[CaseDecision] | None = None,
        *,
        workers: int = 1,
        on_progress: Callable[[int], None] | None = None,
    ) -> DistantLabels:
        """Return the distant labels of the documents' sentences, in order; see `label`.

        `cases` says which types ignore letter case where a larger text has decided; else these
        documents decide.
        """
        dictionaries, default = self._dictionaries, self._default
        resolvers = self._resolvers_for(documents)
        resolver = next(iter(resolvers.values()))
        tokens = [(t, d.tokens_given) for d in documents for t in d.tokens_by_sentence()]
        bounds = np.zeros(len(tokens) + 1, dtype=np.int64)
        np.cumsum([len(sentence) for sentence, _ in tokens], out=bounds[1:])
        chunks = _chunks(bounds)
        is_adaptive = any((d.match or default).is_adaptive for d in dictionaries if d.is_enabled)
        work = partial(_find_in_chunk if is_adaptive else _match_chunk, resolvers, tokens)
        parts = []
        for part, (first, last) in zip(_run(work, chunks, workers), chunks, strict=True):
            parts.append(part)
            if on_progress:
                on_progress(last - first)
        if self._phrases is None:
            self._phrases = resolver.rules.phrase_table()
        phrases, adaptation = self._phrases, None
        if is_adaptive:
            rows, adaptation = _adapted(parts, documents, dictionaries, resolver, phrases, cases)
            parts = [make_rows(resolver.rules.settle_rows(rows))]
        matches, also, shorter = join_rows(parts)
        return DistantLabels(
            types=resolver.rules.types,
            labels=paint(matches, bounds),
            bounds=bounds,
            matches=matches,
            also=also,
            phrases=phrases,
            shorter=shorter,
            dictionaries=tuple(dictionary.name for dictionary in dictionaries),
            adaptation=adaptation,
        )

    def count_spellings(self, documents: Sequence[Document]) -> SpellingCounts:
        """Return how often each phrase stands in the documents, for `decide_cases`."""
        resolvers = self._resolvers_for(documents)
        tokens = [(t, d.tokens_given) for d in documents for t in d.tokens_by_sentence()]
        places = _table(_find_in_chunk(resolvers, tokens, (0, len(tokens))), _PLACE_COLUMNS)
        matcher = next(iter(resolvers.values())).matcher
        count = len(matcher.phrases)
        is_adaptive = np.fromiter(map(matcher.is_adaptive, range(count)), bool, count)
        exact, other = (count_spelled(places, is_adaptive, how) for how in (EXACT, OTHER_CASE))
        return SpellingCounts(exact, other)

    def _resolvers_for(self, documents: Sequence[Document]) -> dict[bool, Resolver]:
        # Phrase ids follow the dictionaries, so they are the same in every matcher.
        for given in sorted({document.tokens_given for document in documents}) or [False]:
            if given not in self._resolvers:
                matcher = Matcher(
                    self._dictionaries, self._default, tokens_given=given, folding=None
                )
                self._resolvers[given] = Resolver(matcher, self._dictionaries)
        return self._resolvers


def decide_cases(
    dictionaries: Sequence[Dictionary], counts: SpellingCounts
) -> tuple[CaseDecision, ...]:
    """Return for every type whether its phrases ignore letter case, by counts over a whole text."""
    phrases = [phrase for dictionary in dictionaries for phrase in active_phrases(dictionary)]
    table = pd.DataFrame(
        {
            "phrase": [phrase.text for phrase in phrases],
            "entity_type": [phrase.entity_type for phrase in phrases],
        },
        dtype=object,
    )
    return decide_case(table, counts.exact, counts.other)


def _adapted(
    parts: Sequence["array[int]"],
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    resolver: Resolver,
    phrases: pd.DataFrame,
    cases: Sequence[CaseDecision] | None,
) -> tuple[npt.NDArray[np.int32], Adaptation]:
    """Return the places of phrases that the text lets match, and what it decided.

    `parts` are the rows of `_find_in_chunk`: every place of a phrase in whatever letter case.
    """
    matcher, count = resolver.matcher, len(phrases)
    places = np.concatenate(
        [_table((), _PLACE_COLUMNS), *(_table(p, _PLACE_COLUMNS) for p in parts)]
    )
    is_adaptive = np.fromiter(map(matcher.is_adaptive, range(count)), bool, count)
    exact = count_spelled(places, is_adaptive, EXACT)
    other = count_spelled(places, is_adaptive, OTHER_CASE)
    cases = decide_case(phrases, exact, other) if cases is None else tuple(cases)
    folding = {case.entity_type for case in cases if case.is_free}
    is_free = ~is_adaptive | phrases["entity_type"].isin(folding).to_numpy(bool)
    rows = places[(places[:, 4] != OTHER_CASE) | is_free[places[:, 3]], :4]
    defined = find_abbreviations(documents, dictionaries, matcher, resolver.rules, rows)
    adaptation = Adaptation(cases, defined.listed, exact, other, defined.defined_in)
    return np.concatenate([rows, defined.rows]), adaptation


def dictionary_entities(
    labels: DistantLabels, documents: Sequence[Document]
) -> Mapping[str, tuple[Entity, ...]]:
    """Return the kept matches as entities by document, each with its phrase."""
    sentences = [sentence for document in documents for sentence in document.sentences]
    entities: dict[str, list[Entity]] = {document.id: [] for document in documents}
    kept = labels.kept
    credited = labels.phrases.take(kept["phrase"].to_numpy())
    for i, start, end, type_number, phrase, canonical_id, source in zip(
        *(kept[name].tolist() for name in ("sentence", "start", "end", "type")),
        credited["phrase"],
        credited["canonical_id"],
        _sources(labels),
        strict=True,
    ):
        span = Span(start, end, labels.types[type_number - 1])
        first, last = sentences[i].offsets(span)
        entities[sentences[i].document_id].append(
            Entity(
                first,
                last,
                span.entity_type,
                method="dictionary",
                source=source,
                in_dictionary=True,
                matched_phrase=phrase,
                canonical_id=canonical_id,
            )
        )
    return {id: tuple(in_document) for id, in_document in entities.items()}


def conflicts(labels: DistantLabels, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Return one row for each match that lost to another type: winner, loser and the rule."""
    losers = labels.matches[labels.matches["outcome"] > SAME_TYPE]
    winners = labels.matches.loc[losers["winner"]]
    phrases = labels.phrases["phrase"].to_numpy()
    types = np.array(("", *labels.types), dtype=object)
    return pd.DataFrame(
        {
            "document": [sentences[i].document_id for i in losers["sentence"]],
            "sentence": losers["sentence"].to_numpy(),
            "winner": phrases[winners["phrase"].to_numpy()],
            "winner_type": types[winners["type"].to_numpy()],
            "loser": phrases[losers["phrase"].to_numpy()],
            "loser_type": types[losers["type"].to_numpy()],
            "rule": [OUTCOMES[code] for code in losers["outcome"]],
            "text": [sentences[i].text for i in losers["sentence"]],
        }
    )


def credits(labels: DistantLabels) -> pd.DataFrame:
    """Return (match, phrase) for every kept match and every phrase that explains it."""
    kept = labels.kept
    first = pd.DataFrame({"match": kept.index, "phrase": kept["phrase"].to_numpy()})
    others = labels.also[labels.also["match"].isin(kept.index)]
    return pd.concat([first, others], ignore_index=True)


def _sources(labels: DistantLabels) -> list[str]:
    """Return the names of the dictionaries behind each kept match."""
    names = labels.phrases["dictionary"].to_numpy()
    kept = labels.kept
    sources = dict(zip(kept.index, names[kept["phrase"].to_numpy()], strict=True))
    for match, phrase in zip(labels.also["match"], labels.also["phrase"], strict=True):
        if match in sources and names[phrase] not in sources[match].split(";"):
            sources[match] = f"{sources[match]};{names[phrase]}"
    return list(sources.values())


# ---- over many sentences --------------------------------------------------------------------

_Resolvers = Mapping[bool, Resolver]
_Tokens = Sequence[tuple[tuple[str, ...], bool]]
_Chunk = tuple[int, int]  # first and last sentence
# Rows of matches, of (match, further phrase) and of shorter phrases, each concatenated.
Rows = tuple["array[int]", "array[int]", "array[int]"]
# What forked workers inherit: sending it through a pipe would take longer than the matching.
_inherited: Callable[[_Chunk], Any] | None = None


def _chunks(bounds: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return ranges of sentences with about the same number of tokens each."""
    if len(bounds) == 1:
        return []
    targets = np.arange(_CHUNK_TOKENS, int(bounds[-1]), _CHUNK_TOKENS)
    cuts = np.unique(np.concatenate(([0], np.searchsorted(bounds, targets), [len(bounds) - 1])))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _run(work: Callable[[_Chunk], Any], chunks: list[_Chunk], workers: int) -> Iterator[Any]:
    """Yield the result of each chunk, in order."""
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    if workers < 2 or len(chunks) < 2 or not can_fork:
        yield from map(work, chunks)
        return
    global _inherited
    _inherited = work
    gc.freeze()  # otherwise the first collection in a worker copies every page of the index
    try:
        with multiprocessing.get_context("fork").Pool(min(workers, len(chunks))) as pool:
            yield from pool.imap(_do_inherited, chunks)
    finally:
        gc.unfreeze()
        _inherited = None


def _do_inherited(chunk: _Chunk) -> Any:
    assert _inherited is not None
    return _inherited(chunk)


def _match_chunk(resolvers: _Resolvers, tokens: _Tokens, chunk: _Chunk) -> Rows:
    numbered = zip(range(*chunk), tokens[slice(*chunk)], strict=True)
    return make_rows((i, resolvers[given].matches(words)) for i, (words, given) in numbered)


def _find_in_chunk(resolvers: _Resolvers, tokens: _Tokens, chunk: _Chunk) -> "array[int]":
    """Return the sentence, start, end, phrase and spelling of every place of a phrase."""
    rows: list[int] = []
    for i, (words, given) in zip(range(*chunk), tokens[slice(*chunk)], strict=True):
        matcher = resolvers[given].matcher
        for start, end, phrase_ids in matcher.scan(words):
            surface = words[start:end]
            for phrase_id in phrase_ids:
                rows += (i, start, end, phrase_id, matcher.spelling(phrase_id, surface))
    return array("i", rows)


# ---- matches as rows ------------------------------------------------------------------------


def make_rows(sentences: Iterable[tuple[int, list[Match]]]) -> Rows:
    """Return the matches of numbered sentences as rows for `join_rows`."""
    # Rows are concatenated and split later. Lists grow faster; arrays are faster to send.
    rows: list[int] = []
    also: list[int] = []
    shorter: list[int] = []
    count = 0
    for i, matches in sentences:
        first_row = count
        for match in matches:
            winner = first_row + match.winner if match.winner >= 0 else -1
            ids = match.phrase_ids
            rows += (i, match.start, match.end, match.type_number, ids[0], match.outcome, winner)
            for phrase_id in ids[1:]:
                also += (count, phrase_id)
            for end, phrase_id in match.shorter:
                shorter += (i, match.start, end, phrase_id)
            count += 1
    return array("i", rows), array("i", also), array("i", shorter)


def join_rows(parts: Iterable[Rows]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of matches, of further phrases and of shorter ones over all parts.

    Row numbers that a part counted from its own beginning are shifted.
    """
    matches, also = [_table((), MATCH_COLUMNS)], [_table((), ALSO_COLUMNS)]
    shorter, shift = [_table((), SHORTER_COLUMNS)], 0
    for match_rows, also_rows, shorter_rows in parts:
        table = _table(match_rows, MATCH_COLUMNS)
        table[table[:, -1] >= 0, -1] += shift
        matches.append(table)
        also.append(_table(also_rows, ALSO_COLUMNS) + np.array([shift, 0], np.int32))
        shorter.append(_table(shorter_rows, SHORTER_COLUMNS))
        shift += len(table)
    return (
        pd.DataFrame(np.concatenate(matches), columns=list(MATCH_COLUMNS)),
        pd.DataFrame(np.concatenate(also), columns=list(ALSO_COLUMNS)),
        pd.DataFrame(np.concatenate(shorter), columns=list(SHORTER_COLUMNS)),
    )


def _table(rows: Iterable[int], columns: Sequence[str]) -> npt.NDArray[np.int32]:
    return np.array(rows, dtype=np.int32).reshape(-1, len(columns))


def paint(matches: pd.DataFrame, bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.int16]:
    """Return one class per token: that of the kept match there, 0 without a match."""
    labels = np.zeros(int(bounds[-1]), dtype=np.int16)
    kept = matches[matches["outcome"] == KEPT]
    offsets = bounds[kept["sentence"].to_numpy()]
    starts, ends = offsets + kept["start"].to_numpy(), offsets + kept["end"].to_numpy()
    lengths = ends - starts
    # All tokens of all matches at once: repeated starts, plus 0, 1, 2, … within each match.
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    labels[np.repeat(starts, lengths) + within] = np.repeat(kept["type"].to_numpy(), lengths)
    return labels
