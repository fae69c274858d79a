"""AutoNER (Shang et al., EMNLP 2018): tie or break neighbouring tokens, then type each chunk.

The network gives each token k + 2 outputs: non-entity, the k types, and "tied to the token before".
Neighbours are tied inside a dictionary match and broken elsewhere. Tokens of names that no
dictionary holds may be either, so they have no target: the loss skips them. What lies between two
breaks is a chunk; its type follows from the mean of its tokens' outputs, and may be none.

We depart from the published system where our setting differs: it mines its untyped names with
AutoPhrase, and we take the frequent names of the unlabeled text, which a user always has. Two
neighbouring chunks of one type become one entity, because all our methods are decoded alike.
docs/method.md lists all departures.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.labels import looks_like_a_name
from engine.learning.risk import Risk, mean_or_zero

_LEAST = 3  # how often an unlabeled name has to occur
_LONGEST = 4  # its tokens
NO_TARGET = -1


class Targets(NamedTuple):
    """What AutoNER learns, per token of the corpus."""

    tie: Tensor  # 1 = tied to the token before, 0 = broken, NO_TARGET
    starts: Tensor  # whether a chunk starts here
    classes: Tensor  # of its chunk: 0 = none, i = type i, NO_TARGET


def unknown_tokens(
    sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16]
) -> npt.NDArray[np.bool_]:
    """Return which tokens belong to a frequent name that no dictionary holds: (tokens,)."""
    counts = Counter(words for words, _ in _unlabeled_groups(sentences, labels))
    names = {words for words, n in counts.items() if n >= _LEAST and looks_like_a_name(words)}
    is_unknown = np.zeros(len(labels), bool)
    for words, start in _unlabeled_groups(sentences, labels):
        if words in names:
            is_unknown[start : start + len(words)] = True
    return is_unknown


def _unlabeled_groups(
    sentences: Sequence[Sequence[str]], labels: npt.NDArray[np.int16]
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield every group of up to four unlabeled words, in lower case, with its first token."""
    first = 0
    for tokens in sentences:
        words = [token.lower() for token in tokens]
        is_free = (labels[first : first + len(words)] == 0).tolist()
        for i in range(len(words)):
            for end in range(i + 1, min(i + _LONGEST, len(words)) + 1):
                if not (is_free[end - 1] and words[end - 1][:1].isalnum()):
                    break
                yield tuple(words[i:end]), first + i
        first += len(words)


def make_targets(
    labels: npt.NDArray[np.int16],
    bounds: npt.NDArray[np.int64],
    is_unknown: npt.NDArray[np.bool_],
    device: torch.device,
) -> Targets:
    """Return the targets of a corpus; sentence i is labels[bounds[i]:bounds[i + 1]]."""
    is_first = first_tokens(bounds)
    before = np.concatenate([[0], labels[:-1]]) if len(labels) else labels
    tie = ((labels > 0) & (labels == before) & ~is_first).astype(np.int64)
    starts = tie == 0
    unknown_before = np.concatenate([[False], is_unknown[:-1]]) if len(labels) else is_unknown
    tie[is_first | is_unknown | unknown_before] = NO_TARGET
    classes = np.where(is_unknown, NO_TARGET, labels.astype(np.int64))
    return Targets(*(torch.from_numpy(array).to(device) for array in (tie, starts, classes)))


def first_tokens(bounds: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Return which tokens are the first of a sentence: (tokens,)."""
    is_first = np.zeros(int(bounds[-1]), bool)
    is_first[bounds[:-1][np.diff(bounds) > 0]] = True
    return is_first


def autoner_risk(logits: Tensor, tokens: Tensor, targets: Targets) -> Risk:
    """Return the mean cross-entropy of ties and breaks, plus that of the chunks' types.

    logits: (tokens, k + 2), of whole sentences. tokens: which token of the corpus each row is.
    """
    order = tokens.argsort()
    tokens, logits = tokens[order], logits[order]
    tie = targets.tie[tokens]
    has_target = tie != NO_TARGET
    tie_loss = mean_or_zero(
        nn.functional.binary_cross_entropy_with_logits(
            logits[has_target, -1], tie[has_target].to(logits.dtype), reduction="none"
        )
    )
    starts = targets.starts[tokens]
    typed = _mean_by_chunk(logits[:, :-1], starts)
    classes = targets.classes[tokens][starts]
    is_known = classes != NO_TARGET
    losses = nn.functional.cross_entropy(typed[is_known], classes[is_known], reduction="none")
    is_entity = classes[is_known] > 0
    share = 1 / max(len(losses), 1)
    positive, negative = losses[is_entity].sum() * share, losses[~is_entity].sum() * share
    negative = negative + tie_loss
    return Risk(positive + negative, positive, negative, logits.new_zeros(()))


def chunk_probabilities(logits: Tensor, tokens: Tensor, is_first: Tensor) -> Tensor:
    """Return (tokens, k + 1) probabilities, the same for all tokens of a chunk.

    A chunk ends where a sentence does, or where a break is likelier than a tie.
    """
    order = tokens.argsort()
    ordered = logits[order]
    starts = is_first[tokens[order]] | (ordered[:, -1] <= 0)
    by_chunk = _mean_by_chunk(ordered[:, :-1], starts).softmax(dim=1)
    probs = torch.empty_like(ordered[:, :-1])
    probs[order] = by_chunk[starts.cumsum(0) - 1]
    return probs


def _mean_by_chunk(values: Tensor, starts: Tensor) -> Tensor:
    """Return the mean row of each chunk: (tokens, n), (tokens,) -> (chunks, n)."""
    chunk = starts.cumsum(0) - 1
    count = int(starts.sum())
    sums = values.new_zeros((count, values.shape[1])).index_add(0, chunk, values)
    sizes = values.new_zeros(count).index_add(0, chunk, values.new_ones(len(chunk)))
    return sums / sizes[:, None]
