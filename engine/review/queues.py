"""Put the items of a review in one of several orders.

An order does not depend on decisions, so that a person can return to the same place in it. Ties are
broken by a random order that is the same each time, and a group stays together.
"""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from engine.labels import LIKELY
from engine.review.items import DICTIONARY, Items, Numbers

# The first is the default: of all queues, it gains most per decision (bench.review).
ORDERS = ("disagreement", "uncertain", "dictionary", "unseen", "random")
_Values = npt.NDArray[np.float64]
_SILENT = (DICTIONARY, LIKELY)  # what they do not find they say nothing about
AreKnown = Callable[[Sequence[str]], Sequence[bool]]


def make_queue(
    items: Items, order: str, seed: int = 0, are_known: AreKnown | None = None
) -> Numbers:
    """Return the row numbers of the items worth reviewing, the most useful first.

    disagreement: most different opinions first.  uncertain: lowest score first.  dictionary:
    matches that the trained methods reject.  unseen: phrases that the dictionaries lack, each once
    before any is repeated.  random: all items, shuffled by the seed.

    `are_known` tells which phrases the dictionaries hold; without it, none count as known.
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
    shuffled = np.argsort(_lots(items, seed), kind="stable")
    if order == "disagreement":
        return _ranked(items, shuffled, disagreement(items))
    if order == "uncertain":
        scores = items.scores[shuffled, items.method[shuffled]]
        return shuffled[np.argsort(scores, kind="stable")][: np.count_nonzero(~np.isnan(scores))]
    if order == "dictionary":
        return _doubtful_matches(items, shuffled)
    if order == "unseen":
        return _by_surface(items, shuffled, are_known)
    return shuffled


def disagreement(items: Items) -> _Values:
    """Return the entropy of each item's opinions in bits: 0 if all agree, 1 for one against one.

    -sum over opinions of share * log2(share), written as a sum over the methods.
    """
    votes = items.opinions
    speaks = np.ones(votes.shape, bool)
    for silent, method in enumerate(items.methods):
        if method in _SILENT:
            speaks[:, silent] = votes[:, silent] >= 0
    voters = speaks.sum(axis=1)
    entropy = np.zeros(len(items))
    for i in range(votes.shape[1]):
        alike = ((votes == votes[:, [i]]) & speaks).sum(axis=1)
        entropy += np.where(speaks[:, i], np.log2(voters / np.maximum(alike, 1)) / voters, 0.0)
    # Summing the same shares in another order changes the last bits; they must stay ties.
    return np.round(entropy, 9)


def rejections(items: Items) -> _Values:
    """Return, per item, the share of trained methods that find nothing of its type there."""
    trained = [i for i, method in enumerate(items.methods) if method not in _SILENT]
    if not trained:
        return np.zeros(len(items))
    types = np.append(items.type, -1)  # opinion -1 (nothing found) has the type -1
    against = types[items.opinions[:, trained]] != items.type[:, None]
    shares: _Values = against.mean(axis=1)
    return shares


# ---- random order ---------------------------------------------------------------------------


def lot(place: tuple[object, ...], seed: int) -> bytes:
    """Return a sort key for a random order that is the same each time."""
    return hashlib.sha256(repr((seed, place)).encode()).digest()


def _lots(items: Items, seed: int) -> npt.NDArray[np.uint64]:
    """Return one random number per group, derived from its document and start."""
    numbers, rows = np.unique(items.document, return_inverse=True)
    by_document = [int.from_bytes(lot((items.documents[i].id,), seed)[:8]) for i in numbers]
    mixed = np.array(by_document, np.uint64)[rows] ^ items.group_start.astype(np.uint64)
    # The finalizer of SplitMix64 gives neighbouring inputs unrelated outputs.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


# ---- orders ---------------------------------------------------------------------------------


def _ranked(items: Items, shuffled: Numbers, worth: _Values) -> Numbers:
    """Return the items of groups with a worth above 0, sorted by the best item of their group."""
    if not len(items):
        return shuffled
    begins = np.flatnonzero(np.diff(items.group, prepend=-1))
    best = np.maximum.reduceat(worth, begins)[items.group[shuffled]]
    kept = best > 0
    return shuffled[kept][np.argsort(-best[kept], kind="stable")]


def _doubtful_matches(items: Items, shuffled: Numbers) -> Numbers:
    """Return matches that methods reject; ties: phrases that are rejected everywhere first."""
    if DICTIONARY not in items.methods:
        return shuffled[:0]
    is_match = items.opinions[:, items.methods.index(DICTIONARY)] == np.arange(len(items))
    matches = shuffled[is_match[shuffled]]
    rejected = rejections(items)[matches]
    surfaces = pd.factorize(items.folded_texts())[0][matches]
    phrase = pd.factorize(surfaces * len(items.types) + items.type[matches])[0]
    mean = (np.bincount(phrase, rejected) / np.bincount(phrase))[phrase]
    order = np.lexsort((-mean, -rejected))[: np.count_nonzero(rejected)]
    return np.asarray(matches[order])


def _by_surface(items: Items, shuffled: Numbers, are_known: AreKnown | None) -> Numbers:
    """Return unknown phrases, highest total score first, each once before any is repeated."""
    if are_known is not None:
        codes, surfaces = pd.factorize(items.texts())
        is_known = np.fromiter(are_known(list(surfaces)), bool, len(surfaces))
        shuffled = shuffled[~is_known[codes[shuffled]]]
    codes, surfaces = pd.factorize(items.folded_texts()[shuffled])
    scores = np.nan_to_num(items.scores[shuffled, items.method[shuffled]])
    weights = np.bincount(codes, scores, minlength=len(surfaces)).tolist()
    ranked = sorted(range(len(surfaces)), key=lambda i: (-weights[i], surfaces[i]))
    rank = np.empty(len(surfaces), np.int64)
    rank[ranked] = np.arange(len(surfaces))
    turn = pd.Series(codes).groupby(codes).cumcount().to_numpy()
    return np.asarray(shuffled[np.lexsort((rank[codes], turn))])
