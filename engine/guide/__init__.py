"""A guide through the work: what to do next, and which method to take. Free of torch.

steps   from counts to a checklist with one next step
facts   the counts of a project, without labeling a large text
story   from scores or agreement to a sentence about the methods
advice  that sentence for the latest run of a project
"""

from engine.guide.advice import better_run, project_story
from engine.guide.facts import doubtful_phrases, project_facts, project_steps, skip_step
from engine.guide.steps import (
    OPTIONAL,
    ProjectFacts,
    Step,
    next_step,
    next_steps,
)
from engine.guide.story import Story, story_with_gold, story_without_gold

__all__ = [
    "OPTIONAL",
    "ProjectFacts",
    "Step",
    "Story",
    "better_run",
    "doubtful_phrases",
    "next_step",
    "next_steps",
    "project_facts",
    "project_steps",
    "project_story",
    "skip_step",
    "story_with_gold",
    "story_without_gold",
]
