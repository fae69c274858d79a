"""Store likely tokens in a project without a search: given words are likely, all others are not."""

from collections.abc import Mapping

import numpy as np

from engine.labels.likely import LikelyTokens
from engine.projects.labels import labels_of
from engine.projects.likely import KeptLikely, keep_likely, likely_basis
from engine.projects.project import Project


def keep_words(
    project: Project, words: Mapping[str, tuple[str, float]], factor: float = 1.0
) -> LikelyTokens:
    """Keep these words as likely: type and confidence. The priors say `factor` times as many."""
    labels = labels_of(project)
    tokens = [token for sentence in project.corpus().sentences for token in sentence.tokens]
    given = [words.get(token, (labels.types[0], 0.05)) for token in tokens]
    is_open = labels.labels == 0
    confidence = np.array([value for _, value in given], np.float16)
    count = int(((confidence > 0.5) & is_open).sum())
    likely = LikelyTokens(
        confidence,
        np.array([labels.types.index(name) + 1 for name, _ in given], np.int16),
        np.full(len(tokens), 0.75, np.float16),
        is_open,
        labels.types,
        factor * count / int(is_open.sum()),
    )
    keep_likely(project, KeptLikely(likely, (), likely_basis(project)))
    return likely
