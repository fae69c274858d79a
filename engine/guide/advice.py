"""Say which method of a project's latest run to take; read everything that this needs."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from engine import jobs
from engine.export import by_trust, default_run, methods_with_entities, runs_with_entities
from engine.guide.story import Story, story_with_gold, story_without_gold
from engine.jobs import Job
from engine.planning import METHODS
from engine.projects import Project, labels_of
from engine.review import judgements
from engine.run_folder import PREDICTIONS, read_marks
from engine.scoring import (
    FoundAgain,
    Marks,
    are_comparable,
    best_of,
    is_surely_more,
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
    hidden = {METHODS[name].title: r for name, r in jobs.hidden_found(project, run.id).items()}
    story = story_without_gold(pool, trained, dictionary, judged, hidden)
    return replace(story, text=f"{story.text} {better_run(project, run)}".strip())


def better_run(project: Project, run: Job) -> str:
    """Return a sentence that names another run if that surely finds more of the hidden phrases.

    Only runs from the same text, dictionaries and matching are compared. "" if there is none.
    """
    own = _best(jobs.hidden_found(project, run.id))
    if own is None:
        return ""
    rivals = []
    for other in runs_with_entities(project):
        if other.id != run.id and other.labels_key == run.labels_key:
            best = _best(jobs.hidden_found(project, other.id))
            if best and are_comparable([own[1], best[1]]) and is_surely_more(best[1], own[1]):
                rivals.append((other, *best))
    if not rivals:
        return ""
    other, method, result = max(rivals, key=lambda rival: rival[2].share)
    return (
        f"Better: {METHODS[method].title} of the run of {other.created_at:%-d %b %Y, %H:%M}, "
        f"preset {other.request['preset']}, which finds {sum(result.found):,} of the hidden words "
        f"again, {sum(own[1].found):,} here."
    )


def _best(found: Mapping[str, FoundAgain]) -> tuple[str, FoundAgain] | None:
    """Return the method that a run's hidden phrases choose, with what it found again."""
    if not found or not are_comparable(list(found.values())):
        return None
    method = best_of({name: found[name] for name in sorted(found, key=by_trust)})
    return method, found[method]
