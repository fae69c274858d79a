"""Training risks: estimates of a tagger's error that need no true negatives.

Every risk is a pure function of a batch of tokens. `probs` is (tokens, classes), rows sum to 1;
`labels` is (tokens,), 0 = unlabeled and i = labeled as type i by the dictionary; `priors` is
(classes,), priors[i] = P(class i), and priors[0] is not used. A type without tokens in the batch
adds no risk. The entity weight (gamma) multiplies the positive part, as in the paper's appendix D.

References: Zhou, Li and Li, ACL 2022 (equation numbers below); Kiryo et al., NeurIPS 2017 (the
non-negative bound); Zhang and Sabuncu, NeurIPS 2018 (generalized cross-entropy).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from engine.settings import SETTING_RULES

_SMALLEST_PROBABILITY = 1e-7
_GCE_POWER = 0.7  # q; 0 would be cross-entropy, 1 the MAE
_SMALLEST_CONFIDENCE = 1e-3  # lambda is positive by assumption; keeps 1 / lambda finite


class Risk(NamedTuple):
    """A risk and its parts."""

    objective: Tensor  # what a training step minimizes
    positive: Tensor  # the part of the labeled tokens, entity weight included
    negative: Tensor  # the part of the unlabeled tokens, before any bound
    bounded: Tensor  # share of bounded terms that were below zero

    @property
    def value(self) -> Tensor:
        return self.positive + self.negative.clamp(min=0)


def token_losses(probs: Tensor, target: int, loss: str = "mae") -> Tensor:
    """Return the loss of each row of `probs` against the class `target`: (tokens,).

    mae: sum_i |y_i - p_i| / (k + 1), which is 2 (1 - p_target) / (k + 1); in [0, 2 / (k + 1)].
    """
    p = probs[:, target]
    if loss == "mae":
        return 2 * (1 - p) / probs.shape[1]
    if loss == "cross_entropy":
        return -p.clamp(min=_SMALLEST_PROBABILITY).log()
    if loss == "gce":
        return (1 - p.clamp(min=_SMALLEST_PROBABILITY) ** _GCE_POWER) / _GCE_POWER
    raise ValueError(f"loss must be {SETTING_RULES['loss']}, got {loss!r}")


def mean_or_zero(values: Tensor) -> Tensor:
    """Return the mean of `values`; 0 if there are none, so that an absent class adds no risk."""
    return values.mean() if len(values) else values.sum()


def mpn_risk(
    probs: Tensor, labels: Tensor, priors: Tensor, *, entity_weight: float, loss: str = "mae"
) -> Risk:
    """Return the supervised risk that treats unlabeled tokens as negatives (MPN, eq. 3).

    R = gamma sum_i pi_i E_Pi[l(f, i)] + (1 - sum_i pi_i) E_U[l(f, 0)]
    """
    positive = entity_weight * _positive_risk(probs, labels, priors, loss)
    unlabeled = mean_or_zero(token_losses(probs[labels == 0], 0, loss))
    negative = (1 - priors[1:].sum()) * unlabeled
    return Risk(positive + negative, positive, negative, probs.new_zeros(()))


def mpu_risk(
    probs: Tensor,
    labels: Tensor,
    priors: Tensor,
    *,
    entity_weight: float,
    loss: str = "mae",
    is_one_sample: bool = False,
    bound: str = "clamp",
) -> Risk:
    """Return the multi-class positive-unlabeled risk (MPU, eq. 5).

        R = gamma sum_i pi_i E_Pi[l(f, i)] + max(0, E_U[l(f, 0)] - sum_i pi_i E_Pi[l(f, 0)])

    With `is_one_sample`, E_U is taken over all tokens, labeled ones included: in one corpus the
    unlabeled tokens alone are not a sample of p(x). With `bound` = "ascend", a step minimizes
    -negative where the negative part is below zero (Kiryo et al., the authors' code); "clamp" takes
    0 for it. With one positive class this is the binary non-negative risk (eq. 2).
    """
    positive = entity_weight * _positive_risk(probs, labels, priors, loss)
    unlabeled = probs if is_one_sample else probs[labels == 0]
    negative = mean_or_zero(token_losses(unlabeled, 0, loss))
    for i in range(1, len(priors)):
        negative = negative - priors[i] * mean_or_zero(token_losses(probs[labels == i], 0, loss))
    is_below = negative.detach() < 0
    if bound == "ascend" and bool(is_below):
        objective = -negative
    else:
        objective = positive + negative.clamp(min=0)
    return Risk(objective, positive, negative, is_below.to(probs.dtype))


def conf_mpu_risk(
    probs: Tensor,
    labels: Tensor,
    priors: Tensor,
    *,
    confidence: Tensor,
    confidence_threshold: float,
    entity_weight: float,
    loss: str = "mae",
) -> Risk:
    """Return the confidence-based multi-class positive-unlabeled risk (Conf-MPU, eq. 8).

        R = gamma sum_i pi_i E_Pi[max(0, l(f, i) + 1[lambda > tau] l(f, 0) / lambda - l(f, 0))]
            + (1 / n_U) sum_U 1[lambda <= tau] l(f, 0)

    confidence: (tokens,), lambda, the estimated probability that a token is part of an entity.
    """
    confidence = confidence.clamp(min=_SMALLEST_CONFIDENCE)
    is_likely = (confidence > confidence_threshold).to(probs.dtype)
    as_negative = token_losses(probs, 0, loss)
    correction = as_negative * (is_likely / confidence - 1)
    positive = probs.new_zeros(())
    bounded = probs.new_zeros(())
    for i in range(1, len(priors)):
        is_type = labels == i
        terms = token_losses(probs[is_type], i, loss) + correction[is_type]
        positive = positive + priors[i] * mean_or_zero(terms.clamp(min=0))
        bounded = bounded + (terms.detach() < 0).sum()
    is_unlabeled = labels == 0
    negative = mean_or_zero(as_negative[is_unlabeled] * (1 - is_likely[is_unlabeled]))
    positive = entity_weight * positive
    labeled = (labels > 0).sum().clamp(min=1)
    return Risk(positive + negative, positive, negative, bounded / labeled)


def with_known_negatives(
    risk: Risk, probs: Tensor, labels: Tensor, is_negative: Tensor, *, weight: float, loss: str
) -> Risk:
    """Add the loss of tokens that a person marked as no entity: weight / n_U sum_N l(f, 0).

    `is_negative` is (tokens,), true for unlabeled tokens only. An unlabeled token weighs 1 / n_U in
    every risk. One that a person decided on gets `weight` times that in addition, as entities do.
    """
    losses = token_losses(probs[is_negative], 0, loss)
    known = weight * losses.sum() / (labels == 0).sum().clamp(min=1)
    return risk._replace(objective=risk.objective + known, negative=risk.negative + known)


def supervised_risk(probs: Tensor, labels: Tensor, *, loss: str = "cross_entropy") -> Risk:
    """Return the mean loss against complete (gold) labels: the upper reference."""
    losses = torch.stack([token_losses(probs, i, loss) for i in range(probs.shape[1])], dim=1)
    total = losses.gather(1, labels.long()[:, None]).mean()
    zero = probs.new_zeros(())
    return Risk(total, total, zero, zero)


def _positive_risk(probs: Tensor, labels: Tensor, priors: Tensor, loss: str) -> Tensor:
    total = probs.new_zeros(())
    for i in range(1, len(priors)):
        total = total + priors[i] * mean_or_zero(token_losses(probs[labels == i], i, loss))
    return total
