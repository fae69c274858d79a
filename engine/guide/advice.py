"""Say which method of a project's latest run to take; read everything that this needs."""

import numpy as np

from engine import jobs
from engine.export import default_run, methods_with_entities, runs_with_entities
from engine.guide.story import Story, story_with_gold, story_without_gold
from engine.planning import METHODS
from engine.projects import Project, labels_of
from engine.review import judgements
from engine.run_folder import PREDICTIONS, read_marks
from engine.scoring import (
    Marks,
    judged_precision,
    marks_of_labels,
    on_tokens,
    pool_entities,
    score_pool,
)
from engine.text import EntitiesByDocument

_GOLD, _DICTIONARY = "Gold", "Dictionary"


def project_story(project: Project) -> Story | None:
    """Return which method of the latest run to take, and why; None if nothing is trained."""
    run = default_run(runs_with_entities(project))
    if run is None:
        return None
    documents = project.corpus().documents
    methods = {METHODS[name].title: name for name in methods_with_entities(run)}
    trained = [title for title, name in methods.items() if not METHODS[name].needs_gold]
    sets: dict[str, EntitiesByDocument | Marks] = {
        title: read_marks(jobs.run_folder(run, methods[title]) / PREDICTIONS) for title in trained
    }
    if project.dictionary_version():
        labels = labels_of(project, documents=lambda: documents)
        sentences = [sentence for document in documents for sentence in document.sentences]
        sets[_DICTIONARY] = marks_of_labels(labels, sentences)
    dictionary = _DICTIONARY if _DICTIONARY in sets else None
    gold = project.gold(project.corpus())
    if gold is not None:
        pool = pool_entities(documents, {_GOLD: on_tokens(documents, gold.entities), **sets})
        sizes = np.cumsum([0, *(len(document.sentences) for document in documents)])
        scored = score_pool(pool, _GOLD, gold.entities.keys(), sentences_by_document=sizes)
        story = story_with_gold(scored, trained, dictionary)
        if story is not None:
            return story
    pool = pool_entities(documents, sets)
    decisions = [*project.decisions("check"), *project.decisions("review")]
    table = judged_precision(pool, judgements(decisions))
    judged = {
        str(name): (int(count), int(right))
        for name, count, right in zip(table["name"], table["judged"], table["correct"], strict=True)
    }
    return story_without_gold(pool, trained, dictionary, judged)
