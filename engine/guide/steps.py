"""Turn what is known about a project into a checklist, with the one next step that helps most.

The order is that of the work: what is cheap and makes everything after it better comes first.
Muting a wrong phrase takes a click; training on it costs several points of F1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

DONE, NEXT, OPEN, LATER, SKIPPED = "done", "next", "open", "later", "skipped"
OPTIONAL = ("phrases", "precision", "review")  # a person may leave them out
ENOUGH_JUDGED = 30  # matches: an interval of about 15 points on either side
ENOUGH_REVIEWED = 100  # decisions, after which the rest may wait


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What is known about a project. None: not known without computing for long."""

    sentences: int = 0
    phrases: int = 0
    matches: int | None = None
    doubtful: int | None = None  # phrases that match, and look as if they should not
    has_gold: bool = False
    judged: int = 0  # matches judged by hand
    methods: int = 0  # trained, in the latest run
    is_training: bool = False
    is_outdated: bool = False  # text, dictionaries or matching changed since the latest run
    disagreements: int | None = None  # between methods, not yet decided
    reviewed: int = 0  # decisions of the review
    train_seconds: float | None = None
    is_time_measured: bool = False
    is_exported: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)  # step: its count when skipped


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the checklist."""

    key: str
    title: str
    why: str
    page: str  # of the app
    tab: str = ""
    state: str = OPEN  # DONE, NEXT, OPEN, LATER (needs another step first) or SKIPPED


def next_steps(facts: ProjectFacts) -> tuple[Step, ...]:
    """Return the checklist; at most one step is the next one.

    >>> [(step.title, step.state) for step in next_steps(ProjectFacts(sentences=5))[:3]]
    [('5 sentences of text', 'done'), ('Add a dictionary', 'next'), ('See what matches', 'later')]
    """
    steps = [
        _text(facts), _dictionary(facts), _labels(facts), _phrases(facts), _precision(facts),
        _train(facts), _review(facts), _export(facts),
    ]  # fmt: skip
    is_waiting = facts.is_training  # then whatever else can be done comes first
    chosen = next(
        (s for s in steps if s.state == OPEN and not (is_waiting and s.key in ("train", "export"))),
        next((s for s in steps if s.state == OPEN), None),
    )
    return tuple(replace(step, state=NEXT) if step is chosen else step for step in steps)


def next_step(steps: tuple[Step, ...]) -> Step | None:
    """Return the next step of a checklist; None if nothing is left to do."""
    return next((step for step in steps if step.state == NEXT), None)


# ---- one function per step ------------------------------------------------------------------


def _text(facts: ProjectFacts) -> Step:
    if facts.sentences:
        return Step("text", f"{_count(facts.sentences, 'sentence')} of text", "", "text", "", DONE)
    return Step("text", "Add text", "The documents to find entities in: any plain text.", "text")


def _dictionary(facts: ProjectFacts) -> Step:
    key, page = "dictionary", "dictionaries"
    if facts.phrases:
        title = f"{_count(facts.phrases, 'phrase')} in the dictionaries"
        return Step(key, title, "", page, "", DONE)
    why = "A list of phrases that you know, each with its type. It need not be complete."
    return Step(key, "Add a dictionary", why, page)


def _labels(facts: ProjectFacts) -> Step:
    if not (facts.sentences and facts.phrases):
        return Step("labels", "See what matches", "", "labels", "", LATER)
    if facts.matches:
        title = f"{_count(facts.matches, 'match', 'matches')} in the text"
        return Step("labels", title, "", "labels", "", DONE)
    if facts.matches == 0:
        why = "A tagger learns from matches. Try freer matching, or check the language of both."
        return Step("labels", "No phrase matches the text: find out why", why, "labels")
    why = "Look at the marked text before you train on it: most problems show at once."
    return Step("labels", "See what the dictionaries match", why, "labels")


def _phrases(facts: ProjectFacts) -> Step:
    key, tab = "phrases", "Noisy phrases"
    if not facts.matches or facts.doubtful is None:
        return Step(key, "Check phrases that look wrong", "", "labels", tab, LATER)
    if not facts.doubtful:
        return Step(key, "No phrase looks wrong", "", "labels", tab, DONE)
    one = facts.doubtful == 1
    title = (
        f"{_count(facts.doubtful, 'phrase')} {'looks' if one else 'look'} wrong: "
        f"look at {'it' if one else 'them'}"
    )
    why = "What matches wrongly teaches something wrong. Muting takes one click."
    state = SKIPPED if facts.doubtful <= facts.skipped.get(key, -1) else OPEN
    return Step(key, title, why, "labels", tab, state)


def _precision(facts: ProjectFacts) -> Step:
    key, tab = "precision", "Precision"
    if facts.has_gold:
        return Step(key, "Gold tells how often matches are right", "", "labels", tab, DONE)
    if facts.judged >= ENOUGH_JUDGED:
        title = f"{_count(facts.judged, 'match', 'matches')} judged by hand"
        return Step(key, title, "", "labels", tab, DONE)
    left = min(ENOUGH_JUDGED - facts.judged, facts.matches or ENOUGH_JUDGED)
    more = "more " if facts.judged else ""
    noun = "match" if left == 1 else "matches"
    title = f"Judge {left} {more}{noun} to know the precision"
    why = "One key press each. It shows how many labels are right, before you train on them."
    if not facts.matches:
        return Step(key, title, why, "labels", tab, LATER)
    is_all_judged = facts.judged >= facts.matches
    state = SKIPPED if key in facts.skipped else DONE if is_all_judged else OPEN
    return Step(key, title, why, "labels", tab, state)


def _train(facts: ProjectFacts) -> Step:
    if facts.is_training:
        why = "It runs by itself, even if you close this page."
        return Step("train", "Training is in progress", why, "train")
    time = ""
    if facts.train_seconds is not None:
        rough = "about" if facts.is_time_measured else "roughly"
        time = f" ({rough} {_duration(facts.train_seconds)})"
    if facts.methods and facts.is_outdated:
        why = "Text, dictionaries or matching changed since the last run."
        return Step("train", f"Train again{time}", why, "train")
    if facts.methods:
        title = f"Trained with {_count(facts.methods, 'method')}"
        return Step("train", title, "", "train", "", DONE)
    why = "It learns from the matches, and finds entities that no dictionary lists."
    is_possible = facts.sentences and facts.phrases and facts.matches != 0
    return Step("train", f"Train{time}", why, "train", "", OPEN if is_possible else LATER)


def _review(facts: ProjectFacts) -> Step:
    key = "review"
    why = "Where methods disagree, one of them is wrong. Each decision corrects the result."
    if not facts.methods:
        return Step(key, "Review what the methods disagree on", why, "review", "", LATER)
    left = facts.disagreements
    if left == 0:
        return Step(key, "No disagreements left to review", "", "review", "", DONE)
    title = "Review what the methods disagree on"
    if left is not None:
        title = f"{_count(left, 'disagreement')} to review"
    if facts.reviewed >= ENOUGH_REVIEWED:
        done = f"{_count(facts.reviewed, 'decision')} made"
        title = done if left is None else f"{done}, {_count(left, 'disagreement')} left"
        return Step(key, title, "", "review", "", DONE)
    is_skipped = key in facts.skipped and (left or 0) <= facts.skipped[key]
    return Step(key, title, why, "review", "", SKIPPED if is_skipped else OPEN)


def _export(facts: ProjectFacts) -> Step:
    if facts.is_exported:
        return Step("export", "Exported", "", "export", "", DONE)
    why = "As CSV, CoNLL, JSON and other formats, or as a report."
    return Step(
        "export", "Export the entities", why, "export", "", OPEN if facts.methods else LATER
    )


# ---- words ----------------------------------------------------------------------------------


def _count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> _count(1, "match", "matches"), _count(1204, "phrase")
    ('1 match', '1,204 phrases')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _duration(seconds: float) -> str:
    """Return a rough duration.

    >>> _duration(0.2), _duration(42), _duration(130), _duration(7_500)
    ('1 s', '42 s', '2 min', '2 h 5 min')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
