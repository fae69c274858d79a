"""Label text with dictionaries: one class per token, 0 for unlabeled, and every match behind it."""

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.dictionaries import EXACT, NEVER, OTHER_CASE, Dictionary, active_phrases, never_lists
from engine.labels.adaptation import (
    Adaptation,
    CaseDecision,
    count_spelled,
    decide_case,
    find_abbreviations,
)
from engine.labels.matching import PLACE_COLUMNS, Matcher, Rows
from engine.labels.patterns import find_patterns
from engine.labels.placed import find_placed
from engine.labels.resolution import KEPT, OUTCOMES, SAME_TYPE, Choice, Rules, is_blocked
from engine.settings import DEFAULT_MATCH_PRESET, MATCH_PRESETS, MatchOptions
from engine.text import Document, Entity, InputError, Sentence, Span

MATCH_COLUMNS = ("sentence", "start", "end", "type", "phrase", "outcome", "winner")
ALSO_COLUMNS = ("match", "phrase")
SHORTER_COLUMNS = ("sentence", "start", "end", "phrase")
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
    never: "DistantLabels | None" = None  # where phrases match that are never an entity
    notes: tuple[str, ...] = ()  # patterns that took too long, one line each

    @property
    def known_negatives(self) -> npt.NDArray[np.bool_] | None:
        """(tokens,): in a phrase that is never an entity, and unlabeled; None without any."""
        return None if self.never is None else (self.never.labels > 0) & (self.labels == 0)

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
        self._matchers: dict[bool, Matcher] = {}  # by whether the tokens are given
        lists = [
            replace(phrases, match=_settled(phrases.match or self._default))
            for phrases in never_lists(dictionaries)
        ]
        self._never = Labeler(lists, self._default) if lists else None
        self._prepared: tuple[Rules, pd.DataFrame] | None = None  # rules and table of the phrases

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
        dictionaries = self._dictionaries
        never = self._never.label(documents, workers=workers) if self._never else None
        text = _text(documents)
        matcher = self._matcher(documents, len(text.tokens))
        if self._prepared is None:  # once for all parts of a corpus
            rules = Rules(matcher.phrases, matcher.dictionary_of, dictionaries)
            self._prepared = rules, rules.phrase_table()
        rules, phrases = self._prepared
        names = [dictionaries[i].name for i in matcher.dictionary_of]
        patterns = find_patterns(documents, matcher.phrases, names)
        placed = find_placed(documents, dictionaries, matcher.phrases, matcher.dictionary_of)
        rows = np.concatenate([patterns.rows, placed])
        known = _Known(rows[np.argsort(rows[:, 0], kind="stable")], _blocked(never))
        chunks = _chunks(text.bounds, text.is_given)
        is_adaptive = any(
            (d.match or self._default).is_adaptive for d in dictionaries if d.is_enabled
        )
        find = partial(_find_in_chunk, self._matchers, text, known)
        work = find if is_adaptive else partial(_choose_in_chunk, rules, find)
        parts = []
        for part, (first, last) in zip(_run(work, chunks, workers), chunks, strict=True):
            parts.append(part)
            if on_progress:
                on_progress(last - first)
        adaptation = None
        if is_adaptive:
            places = np.concatenate([np.zeros((0, len(PLACE_COLUMNS)), np.int32), *parts])
            rows, adaptation = _adapted(
                places, documents, dictionaries, matcher, rules, phrases, cases
            )
            rows = _unblocked(rows, known.never)  # abbreviations may be on the list, too
            parts = [rules.choose(rows)]
        matches, also, shorter = join_choices(parts)
        return DistantLabels(
            types=rules.types,
            labels=paint(matches, text.bounds),
            bounds=text.bounds,
            matches=matches,
            also=also,
            phrases=phrases,
            shorter=shorter,
            dictionaries=tuple(d.name for d in dictionaries if set(d.types) != {NEVER}),
            adaptation=adaptation,
            never=never,
            notes=(*patterns.notes, *(never.notes if never else ())),
        )

    def count_spellings(self, documents: Sequence[Document]) -> SpellingCounts:
        """Return how often each phrase stands in the documents, for `decide_cases`."""
        text = _text(documents)
        matcher = self._matcher(documents, len(text.tokens))
        never = self._never.label(documents) if self._never else None
        known = _Known(np.zeros((0, 4), np.int32), _blocked(never))
        places = np.concatenate(
            [
                np.zeros((0, len(PLACE_COLUMNS)), np.int32),
                *(
                    _find_in_chunk(self._matchers, text, known, chunk)
                    for chunk in _chunks(text.bounds, text.is_given)
                ),
            ]
        )
        is_adaptive = matcher.adaptive_phrases()
        exact, other = (count_spelled(places, is_adaptive, how) for how in (EXACT, OTHER_CASE))
        return SpellingCounts(exact, other)

    def _matcher(self, documents: Sequence[Document], token_count: int) -> Matcher:
        """Return a matcher after making those that the documents need.

        Phrase ids follow the dictionaries, so they are the same in every matcher.
        """
        for given in sorted({document.tokens_given for document in documents}) or [False]:
            if given not in self._matchers:
                self._matchers[given] = Matcher(
                    self._dictionaries,
                    self._default,
                    tokens_given=given,
                    folding=None,
                    tokens=token_count,
                )
        return next(iter(self._matchers.values()))


def _settled(options: MatchOptions) -> MatchOptions:
    """Return options under which the text need not decide on letter case.

    A list of what is never an entity is to match alike in every part of a corpus.
    """
    return MATCH_PRESETS["balanced"] if options.is_adaptive else options


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


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known about sentences before their phrases are looked for."""

    places: Rows  # of patterns, and of phrases with given places: sentence, start, end, phrase
    never: Mapping[int, Sequence[tuple[int, int]]]  # by sentence


def _blocked(never: DistantLabels | None) -> dict[int, list[tuple[int, int]]]:
    """Return where phrases match that are never an entity, by sentence."""
    places: dict[int, list[tuple[int, int]]] = {}
    if never is not None:
        kept = never.kept
        columns = (kept[name].tolist() for name in ("sentence", "start", "end"))
        for i, start, end in zip(*columns, strict=True):
            places.setdefault(i, []).append((start, end))
    return places


def _unblocked(rows: Rows, never: Mapping[int, Sequence[tuple[int, int]]]) -> Rows:
    """Return the rows (sentence, start, end, …) that no phrase of the list overlaps."""
    is_free = np.ones(len(rows), bool)
    for row in np.flatnonzero(np.isin(rows[:, 0], list(never))):
        sentence, start, end = rows[row, :3].tolist()
        is_free[row] = not is_blocked(start, end, never[sentence])
    return rows[is_free]


def _adapted(
    places: Rows,
    documents: Sequence[Document],
    dictionaries: Sequence[Dictionary],
    matcher: Matcher,
    rules: Rules,
    phrases: pd.DataFrame,
    cases: Sequence[CaseDecision] | None,
) -> tuple[Rows, Adaptation]:
    """Return the places of phrases that the text lets match, and what it decided.

    `places` are those of every phrase in whatever letter case; see PLACE_COLUMNS.
    """
    is_adaptive = matcher.adaptive_phrases()
    exact = count_spelled(places, is_adaptive, EXACT)
    other = count_spelled(places, is_adaptive, OTHER_CASE)
    cases = decide_case(phrases, exact, other) if cases is None else tuple(cases)
    folding = {case.entity_type for case in cases if case.is_free}
    is_free = ~is_adaptive | phrases["entity_type"].isin(folding).to_numpy(bool)
    rows = places[(places[:, 4] != OTHER_CASE) | is_free[places[:, 3]], :4]
    defined = find_abbreviations(documents, dictionaries, matcher, rules, rows)
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

_Chunk = tuple[int, int]  # first and last sentence
# What forked workers inherit: sending it through a pipe would take longer than the matching.
_inherited: Callable[[_Chunk], Any] | None = None


class _Text(NamedTuple):
    """All tokens of some documents, end to end."""

    tokens: list[str]
    bounds: npt.NDArray[np.int64]  # (sentences + 1,), where each sentence begins and the last ends
    is_given: npt.NDArray[np.bool_]  # (sentences,), whether its tokens were given


def _text(documents: Sequence[Document]) -> _Text:
    sizes = [np.diff(np.frombuffer(d.layout.sentences, np.intc)) for d in documents]
    bounds = np.zeros(sum(map(len, sizes)) + 1, np.int64)
    if sizes:
        np.cumsum(np.concatenate(sizes), out=bounds[1:])
    is_given = np.array([document.tokens_given for document in documents], bool)
    return _Text(
        list(chain.from_iterable(document.tokens for document in documents)),
        bounds,
        np.repeat(is_given, [len(sentences) for sentences in sizes]),
    )


def _chunks(bounds: npt.NDArray[np.int64], is_given: npt.NDArray[np.bool_]) -> list[_Chunk]:
    """Return ranges of sentences of one kind with about the same number of tokens each."""
    if len(bounds) == 1:
        return []
    targets = np.arange(_CHUNK_TOKENS, int(bounds[-1]), _CHUNK_TOKENS)
    other_kind = np.flatnonzero(is_given[1:] != is_given[:-1]) + 1
    ends = (0, len(bounds) - 1)
    cuts = np.unique(np.concatenate([ends, np.searchsorted(bounds, targets), other_kind]))
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


def _find_in_chunk(
    matchers: Mapping[bool, Matcher], text: _Text, known: _Known, chunk: _Chunk
) -> Rows:
    """Return every place of a phrase or a pattern in the sentences of a chunk."""
    first, last = chunk
    here = text.bounds[first : last + 1]
    matcher = matchers[bool(text.is_given[first])]
    places = matcher.find(text.tokens[here[0] : here[-1]], here - here[0])
    places[:, 0] += first
    known_places = known.places[slice(*np.searchsorted(known.places[:, 0], chunk))]
    exact = np.full((len(known_places), 1), EXACT, np.int32)
    return _unblocked(np.vstack([places, np.hstack([known_places, exact])]), known.never)


def _choose_in_chunk(rules: Rules, find: Callable[[_Chunk], Rows], chunk: _Chunk) -> Choice:
    return rules.choose(find(chunk)[:, :4])


def join_choices(parts: Iterable[Choice]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of matches, of further phrases and of shorter ones over all parts.

    Row numbers that a part counted from its own beginning are shifted.
    """
    columns = MATCH_COLUMNS, ALSO_COLUMNS, SHORTER_COLUMNS
    tables = [[np.zeros((0, len(names)), np.int32)] for names in columns]
    shift = 0
    for matches, also, shorter in parts:
        matches[matches[:, -1] >= 0, -1] += shift
        also[:, 0] += shift
        shift += len(matches)
        for table, rows in zip(tables, (matches, also, shorter), strict=True):
            table.append(rows)
    match_table, also_table, shorter_table = (
        pd.DataFrame(np.concatenate(table), columns=list(names))
        for table, names in zip(tables, columns, strict=True)
    )
    return match_table, also_table, shorter_table


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
