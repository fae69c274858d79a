"""Score predicted spans against gold spans: precision, recall, F1, and kinds of errors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.text import Document, Entity, Span, spans_from_entities, tags_from_spans

SpansBySentence = Sequence[Sequence[Span]]
ERRORS = ("boundary", "type", "spurious", "missed")
# seqeval counts up to this many sentences in which gold and predicted spans differ. For more, it
# is too slow for a click, and sets count instead; a test shows that both give the same.
_MOST_DISPUTED = 100

_Sides = Sequence[tuple[Sequence[Span], Sequence[Span]]]  # gold and predicted, by sentence


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1 with the counts behind them; None where there is nothing to count.

    Precision is unknown when nothing was predicted, recall when there is no gold.
    """

    correct: int
    predicted: int
    support: int  # gold

    @property
    def precision(self) -> float | None:
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.correct / self.support if self.support else None

    @property
    def f1(self) -> float | None:
        total = self.predicted + self.support
        return 2 * self.correct / total if total else None


NONE = Scores(0, 0, 0)


def score_record(scores: Scores) -> dict[str, float | int | None]:
    """Return all figures as JSON values."""
    return {
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
        "correct": scores.correct,
        "predicted": scores.predicted,
        "support": scores.support,
    }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How predicted spans compare with gold ones."""

    overall: Scores  # spans of all types, counted together
    by_type: Mapping[str, Scores]
    tokens: Scores  # tokens of the right type, regardless of boundaries
    errors: Mapping[str, int]  # how many of each of ERRORS
    errors_by_type: Mapping[str, Mapping[str, int]]  # by the prediction's type; missed by gold's


def evaluate(
    gold: SpansBySentence, predicted: SpansBySentence, lengths: Sequence[int]
) -> Evaluation:
    """Return strict scores: a span counts only with the same tokens and the same type.

    `lengths` are the sentences' token counts. Spans of one side must not overlap.
    """
    if not len(gold) == len(predicted) == len(lengths):
        raise ValueError(
            "gold, predicted and lengths must be of the same sentences, got "
            f"{len(gold)}, {len(predicted)} and {len(lengths)}"
        )
    # In most sentences both sides are equal: everything is right and needs no further work.
    agreed: list[Span] = []
    disputed: list[tuple[Sequence[Span], Sequence[Span]]] = []
    for sides in zip(gold, predicted, strict=True):
        if set(sides[0]) == set(sides[1]):
            agreed += sides[0]
        else:
            disputed.append(sides)
    by_type = _strict_scores(agreed, disputed)
    errors = dict.fromkeys(by_type, dict.fromkeys(ERRORS, 0)) | _count_errors(disputed)
    return Evaluation(
        overall=_sum(by_type.values()),
        by_type=by_type,
        tokens=_token_scores(agreed, disputed),
        errors={kind: sum(counts[kind] for counts in errors.values()) for kind in ERRORS},
        errors_by_type=errors,
    )


def evaluate_documents(
    documents: Sequence[Document],
    gold: Mapping[str, Sequence[Entity]],
    predicted: Mapping[str, Sequence[Entity]],
) -> Evaluation:
    """Return the scores over the documents that have gold."""
    annotated = [document for document in documents if document.id in gold]
    spans: list[Sequence[Span]] = []
    for document in annotated:
        spans += spans_from_entities(document, predicted.get(document.id, ())).spans
    return evaluate_spans(gold_spans(annotated, gold), spans)


@dataclass(frozen=True, slots=True)
class GoldSpans:
    """The gold as spans, for the sentences of the documents that have gold."""

    sentences: tuple[int, ...]  # their numbers among the sentences of all documents
    spans: tuple[Sequence[Span], ...]
    lengths: tuple[int, ...]  # tokens


def gold_spans(documents: Sequence[Document], gold: Mapping[str, Sequence[Entity]]) -> GoldSpans:
    """Return the gold as spans, to score many labelings of the same text with it."""
    numbers: list[int] = []
    spans: list[Sequence[Span]] = []
    lengths: list[int] = []
    first = 0
    for document in documents:
        count = len(document.sentences)
        if document.id in gold:
            numbers += range(first, first + count)
            spans += spans_from_entities(document, gold[document.id]).spans
            lengths += [len(sentence) for sentence in document.sentences]
        first += count
    return GoldSpans(tuple(numbers), tuple(spans), tuple(lengths))


def evaluate_spans(gold: GoldSpans, predicted: SpansBySentence) -> Evaluation:
    """Return the scores of spans, given for the sentences of all documents."""
    return evaluate(gold.spans, [predicted[i] for i in gold.sentences], gold.lengths)


def compare_entities(
    gold: Mapping[str, Sequence[Entity]], predicted: Mapping[str, Sequence[Entity]]
) -> Mapping[str, Scores]:
    """Return strict scores per type from offsets alone, without text or tokens."""

    def places(entities: Mapping[str, Sequence[Entity]]) -> set[tuple[str, int, int, str]]:
        return {
            (id, e.start, e.end, e.entity_type)
            for id, in_document in entities.items()
            for e in in_document
        }

    gold_places, predicted_places = places(gold), places(predicted)
    correct = Counter(place[3] for place in gold_places & predicted_places)
    in_gold = Counter(place[3] for place in gold_places)
    in_predicted = Counter(place[3] for place in predicted_places)
    return {
        name: Scores(correct[name], in_predicted[name], in_gold[name])
        for name in sorted(in_gold | in_predicted)
    }


def overall(by_type: Mapping[str, Scores]) -> Scores:
    """Return the scores of all types counted together (micro average)."""
    return _sum(by_type.values())


def count_errors(gold: SpansBySentence, predicted: SpansBySentence) -> dict[str, int]:
    """Return how many errors of each kind the predictions have.

    boundary: overlaps gold of its own type, with other edges.  type: overlaps gold, but only of
    other types.  spurious: overlaps no gold.  missed: gold that no prediction overlaps.
    """
    by_type = count_errors_by_type(gold, predicted).values()
    return {kind: sum(counts[kind] for counts in by_type) for kind in ERRORS}


def count_errors_by_type(
    gold: SpansBySentence, predicted: SpansBySentence
) -> dict[str, dict[str, int]]:
    """Return `count_errors` per type: the prediction's, or the gold's where it was missed."""
    return _count_errors(list(zip(gold, predicted, strict=True)))


def _count_errors(sentences: _Sides) -> dict[str, dict[str, int]]:
    types = sorted({span.entity_type for sides in sentences for spans in sides for span in spans})
    errors = {name: dict.fromkeys(ERRORS, 0) for name in types}
    for gold_spans, predicted_spans in sentences:
        exact = set(gold_spans) & set(predicted_spans)
        for span in set(predicted_spans) - exact:
            touched = [other for other in gold_spans if _overlap(span, other)]
            if not touched:
                errors[span.entity_type]["spurious"] += 1
            elif any(other.entity_type == span.entity_type for other in touched):
                errors[span.entity_type]["boundary"] += 1
            else:
                errors[span.entity_type]["type"] += 1
        for span in set(gold_spans) - exact:
            is_missed = not any(_overlap(span, other) for other in predicted_spans)
            errors[span.entity_type]["missed"] += is_missed
    return errors


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def _strict_scores(agreed: Sequence[Span], disputed: _Sides) -> dict[str, Scores]:
    """Return scores per type as seqeval counts in strict IOB2 mode, which papers report."""
    correct = Counter(span.entity_type for span in agreed)
    in_gold = correct + Counter(span.entity_type for gold, _ in disputed for span in gold)
    in_predicted = correct + Counter(span.entity_type for _, spans in disputed for span in spans)
    two_sided = [sides for sides in disputed if sides[0] and sides[1]]
    few = len(two_sided) <= _MOST_DISPUTED
    correct += (_correct_by_seqeval if few else _correct_by_sets)(two_sided)
    return {
        name: Scores(correct[name], in_predicted[name], in_gold[name])
        for name in sorted(in_gold | in_predicted)
    }


def _correct_by_sets(disputed: _Sides) -> Counter[str]:
    return Counter(
        span.entity_type
        for gold, predicted in disputed
        for span in set(gold).intersection(predicted)
    )


def _correct_by_seqeval(disputed: _Sides) -> Counter[str]:
    """Return how many spans per type are right, in sentences where the two sides differ."""
    types = sorted({span.entity_type for sides in disputed for spans in sides for span in spans})
    if not types:
        return Counter()
    # Imported here: it imports scikit-learn, which is two thirds of a command's start-up time.
    from seqeval.metrics.v1 import precision_recall_fscore_support
    from seqeval.scheme import IOB2

    # seqeval splits tags at dashes; with numbers, type names such as "non-drug" stay whole.
    alias = {name: str(i) for i, name in enumerate(types)}
    # Tokens that neither side marks do not change the scores but take most of seqeval's time.
    marked = [_marked_tokens(sides) for sides in disputed]

    def tags(side: int) -> list[list[str]]:
        return [
            tags_from_spans(
                (Span(at[s.start], at[s.end - 1] + 1, alias[s.entity_type]) for s in sides[side]),
                len(at),
            )
            for sides, at in zip(disputed, marked, strict=True)
        ]

    precision, recall, _, support = precision_recall_fscore_support(
        tags(0), tags(1), average=None, scheme=IOB2, zero_division=0
    )
    predicted = Counter(span.entity_type for _, spans in disputed for span in spans)
    order = sorted(alias.values())  # seqeval lists types by their (aliased) name
    correct: Counter[str] = Counter()
    for name in types:
        i = order.index(alias[name])
        correct[name] = round(float(recall[i]) * int(support[i]))
        assert round(float(precision[i]) * predicted[name]) == correct[name]
    return correct


def _marked_tokens(sides: Iterable[Sequence[Span]]) -> dict[int, int]:
    """Number the tokens that any of these spans covers, in order."""
    tokens = {i for spans in sides for span in spans for i in range(span.start, span.end)}
    return {token: number for number, token in enumerate(sorted(tokens))}


def _token_scores(agreed: Sequence[Span], disputed: _Sides) -> Scores:
    correct = in_predicted = in_gold = sum(span.end - span.start for span in agreed)
    for gold, predicted in disputed:
        gold_tokens, predicted_tokens = (
            {(i, span.entity_type) for span in spans for i in range(span.start, span.end)}
            for spans in (gold, predicted)
        )
        correct += len(gold_tokens & predicted_tokens)
        in_predicted += len(predicted_tokens)
        in_gold += len(gold_tokens)
    return Scores(correct, in_predicted, in_gold)


def _sum(parts: Iterable[Scores]) -> Scores:
    counts = [(scores.correct, scores.predicted, scores.support) for scores in parts]
    return Scores(*(sum(column) for column in zip(*counts, strict=True))) if counts else NONE
