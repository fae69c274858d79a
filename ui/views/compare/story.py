"""The sentence above the tabs: which method to take, and why."""

from dataclasses import replace
from html import escape

import streamlit as st

from engine.guide import Story, better_run, story_with_gold, story_without_gold
from engine.projects import Project
from ui.state import comparison as state
from ui.state import comparison_tables as tables
from ui.state import findings
from ui.views.compare import hidden


def show(project: Project, comparison: state.Comparison) -> None:
    """Draw the story of the chosen sets."""
    story = story_of(project, comparison)
    head, colon, rest = story.text.partition(":")
    text = f"<b>{escape(head)}</b>{colon}{escape(rest)}" if colon else escape(story.text)
    caution = f' <span class="gl-caution">{escape(story.caution)}</span>' if story.caution else ""
    st.html(f'<div class="gl-story" role="note">{text}{caution}</div>')


def story_of(project: Project, comparison: state.Comparison) -> Story:
    """Return which of the chosen methods to take, and why."""
    trained, dictionary = rivals(comparison), None
    if any(choice.key == state.DICTIONARY for choice in comparison.chosen):
        dictionary = next(c.name for c in comparison.chosen if c.key == state.DICTIONARY)
    if comparison.gold is not None:
        scored = tables.scored(project, comparison)
        story = tables.kept(
            comparison, ("story",), lambda: story_with_gold(scored, trained, dictionary)
        )
        if story is not None:
            return story
    table = tables.judged(project, comparison)
    columns = (table["name"].tolist(), table["judged"].tolist(), table["correct"].tolist())
    judged = {name: (count, right) for name, count, right in zip(*columns, strict=True)}
    found = hidden.found(project, comparison)
    pool = tables.methods_only(comparison)
    story = story_without_gold(pool, trained, dictionary, judged, found)
    used = {choice.job.id: choice.job for choice in comparison.chosen if choice.job}
    if len(used) != 1:
        return story
    better = better_run(project, next(iter(used.values())))
    return replace(story, text=f"{story.text} {better}".strip())


def rivals(comparison: state.Comparison) -> list[str]:
    """Return the trained sets to choose from, the most trusted method first."""
    order = {method: place for place, method in enumerate(findings.TRUST)}
    choices = [
        choice
        for choice in comparison.chosen
        if choice.job is not None and choice.name not in comparison.references
    ]
    return [c.name for c in sorted(choices, key=lambda c: order.get(c.method, len(order)))]
