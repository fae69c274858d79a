"""What hurts most in the dictionaries, with a click to mend each; several pages draw it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from threading import Lock

import streamlit as st

from engine.dictionaries import Dictionary
from engine.health import ADD, AS_WRITTEN, KEEP, MUTE, Health, HealthEntry
from engine.labels import DistantLabels
from engine.projects import (
    Project,
    doubts_key,
    health_of,
    keep_entries,
    kept_entries,
    mend_dictionaries,
)
from engine.text import InputError, Sentence, Span, in_language
from ui.charts.palette import type_colors
from ui.parts import elements, live
from ui.parts.highlight import Mark, highlight, marks
from ui.state import corpus, current
from ui.state import labels as state

TAB = "Noisy phrases"  # of the page Distant labels, where the panel is
FEW = 5  # entries at first
MOST = 50
AROUND = 70  # characters of context on either side of an example
LABELS = {MUTE: "Mute all", AS_WRITTEN: "Only as written", ADD: "Add them", KEEP: "Keep"}
HELP = {
    MUTE: "These phrases match nothing any more, in any case and any dictionary.",
    AS_WRITTEN: "These phrases match only in the letter case in which the dictionary has them.",
    ADD: "Add these names in the order of the text; the inverted ones stay.",
    KEEP: "Leave it as it is, and do not ask again.",
}
HELP_KIND = {
    MUTE: "All names of this kind match nothing any more, in this text and in others.",
    KEEP: "You look for this kind: do not ask again.",
}
Key = tuple[object, ...]
Rights = Mapping[tuple[str, str], tuple[int, int]]  # by phrase and type: checked, and right
_UNDO = "health_undo"
_KEPT = 4  # cached results
AT_ONCE = 40_000  # phrases and matches that are checked while a page is drawn; half a second

STYLE = """<style>
.gl-health { line-height: 1.5; overflow-wrap: anywhere; }
.gl-health-kind { opacity: .75; font-size: .875rem; }
.gl-health-example { font-size: .875rem; line-height: 1.75; padding-left: .8rem;
  border-left: 2px solid color-mix(in srgb, currentColor 20%, transparent); margin-top: .25rem; }
</style>"""


@dataclass(frozen=True, slots=True)
class _Undo:
    """How to take back what was done last."""

    project_id: str
    done: str
    before: int  # version of the dictionaries
    after: int
    kept: tuple[str, ...]  # keys of entries that are kept since


def health(project: Project) -> Health | None:
    """Return what hurts in the project's dictionaries; None without text or dictionaries."""
    if not project.text_key() or not project.dictionary_version():
        return None
    return _health(_key(project), project)


def is_checked(project: Project, *, may_begin: bool = True) -> bool:
    """Return whether `health` answers soon; if not, a thread may begin to check meanwhile."""
    labels = state.labels(project)
    if len(labels.phrases) + len(labels.matches) <= AT_ONCE:
        return True
    checks, key = _checks(), _key(project)
    check = checks.begun(key, project) if may_begin else checks.held(key, project.id)
    return check is not None and check.done()


def summary(project: Project) -> str:
    """Return in a sentence how many phrases look wrong; "" if none does."""
    found = health(project)
    return str(found) if found else ""


def show(
    project: Project, place: str, rights: Rights | None = None, *, is_titled: bool = False
) -> None:
    """Draw the panel: what hurts most, its examples, and what to do; `place` names the page.

    `rights` has, of phrases whose matches gold or a person has checked, how many are right. If it
    `is_titled`, the sentence that says how many phrases look wrong stands above it already.
    """
    found = health(project)
    if found is None:
        return
    show_undo(project, place)
    st.html(STYLE)
    if found.entries:
        show_head(project, found, place, is_titled=is_titled)
        show_entries(project, found.entries, place, rights)
    else:
        st.info("No phrase of the dictionaries looks wrong.", icon=":material/check:")
    if found.kinds:
        st.markdown("**Kinds of names**")
        st.caption(
            "Is there a kind that you do not look for? One click mutes all its names. Neither the "
            "phrases nor the text can tell, so nothing is proposed. The kinds with most matches "
            "come first."
        )
        show_entries(project, found.kinds, f"{place}_kind")


def show_entries(
    project: Project, found: Sequence[HealthEntry], place: str, rights: Rights | None = None
) -> None:
    """Draw entries, a few at first."""
    entries = found[:MOST]
    if len(found) > FEW and not st.toggle(f"Show all {len(entries):,}", key=f"health_all_{place}"):
        entries = entries[:FEW]
    sentences = corpus.sentences(project)
    held = {name for dictionary in state.dictionaries(project) for name in dictionary.types}
    for number, entry in enumerate(entries):
        shown = entry_html(entry, sentences, type_colors(held), rights)
        show_entry(project, entry, shown, f"{place}_{number}")
    if len(found) > MOST:
        st.caption(f"The first {MOST} of {len(found):,}.")


def show_head(project: Project, found: Health, place: str, *, is_titled: bool = False) -> None:
    """Draw what is proposed in all, and the button that accepts it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if said := "" if is_titled else str(found):
            st.markdown(f"**{elements.plain(said)}**")
        elif not found.proposed:
            st.markdown("No change is proposed.")
        if found.proposed:
            count = elements.plural(len(found.proposed), "proposal")
            st.button(
                f"Accept {count}",
                key=f"health_accept_{place}",
                type="primary",
                icon=":material/done_all:",
                on_click=act,
                args=(project, found.proposed, None),
                help="Do what is marked for each entry. You can undo it.",
            )
    st.caption(
        "Estimated from the phrases and the text alone, without gold. The most wrong matches come "
        "first."
    )


def show_entry(project: Project, entry: HealthEntry, shown: str, key: str) -> None:
    """Draw one entry: what is shown of it, as HTML, and the buttons."""
    with st.container(border=True, gap="small"):
        st.html(shown)
        choices = (ADD, KEEP) if entry.proposal == ADD else (MUTE, AS_WRITTEN, KEEP)
        if entry.group:
            choices = (MUTE, KEEP)
        with st.container(horizontal=True):
            for choice in choices:
                st.button(
                    choice_label(choice, entry),
                    key=f"health_{choice.replace(' ', '_')}_{key}",
                    on_click=act,
                    args=(project, (entry,), choice),
                    help=HELP_KIND[choice] if entry.group else HELP[choice],
                )


def choice_label(choice: str, entry: HealthEntry) -> str:
    """Return what a choice is called; the one that the entry proposes says so."""
    return LABELS[choice] + (" (proposed)" if choice == entry.proposal != KEEP else "")


def entry_html(
    entry: HealthEntry,
    sentences: Sequence[Sentence],
    colors: dict[str, str],
    rights: Rights | None = None,
) -> str:
    """Return what is wrong with the entry, how many matches, three examples, as escaped HTML."""
    matches = "1 match" if entry.match_count == 1 else f"{entry.match_count:,} matches"
    if entry.proposal == ADD:
        counts = f"{matches} more"
    elif entry.group:
        counts = matches
    else:
        counts = f"{matches}, about {max(round(entry.wrong), 1):,} wrong"
        known = [rights[pair] for pair in entry.phrases if pair in rights] if rights else []
        if known:
            checked, right = (sum(figures) for figures in zip(*known, strict=True))
            counts += f" · {right:,} of {checked:,} checked are right"
    entity_type = entry.phrases[0][1]
    name = entry.name[:1].upper() + entry.name[1:]
    examples = (
        example_html(sentences[i], Span(start, end, entity_type), colors)
        for i, start, end in entry.examples
    )
    shown = "".join(f'<div class="gl-health-example" dir="auto">{text}</div>' for text in examples)
    return (
        f'<div class="gl-health"><b>{escape(name)}</b> '
        f'<span class="gl-health-kind">{escape(entry.entity_type)} · {escape(entry.kind)} · '
        f"{counts}</span><div>{escape(entry.reason)}</div>{shown}</div>"
    )


def example_html(sentence: Sentence, span: Span, colors: dict[str, str]) -> str:
    """Return the match with the words around it, as escaped HTML."""
    mark = marks(sentence, [span])[0]
    first = max(mark.start - AROUND, 0)
    if first:  # begin with a whole word
        first = sentence.text.find(" ", first, mark.start) + 1 or mark.start
    last = min(mark.end + AROUND, len(sentence.text))
    if last < len(sentence.text):
        last = max(sentence.text.rfind(" ", mark.end, last), mark.end)
    cut = Mark(mark.start - first, mark.end - first, mark.entity_type)
    shown = highlight(sentence.text[first:last], [cut], colors)
    return f"{'… ' if first else ''}{shown}{' …' if last < len(sentence.text) else ''}"


def act(project: Project, entries: Sequence[HealthEntry], choice: str | None) -> None:
    """Do as chosen, or as each entry proposes, and remember how to undo it. For a callback."""
    before = project.dictionary_version()
    try:
        if choice == KEEP:
            kept = tuple(entry.key for entry in entries)
            keep_entries(project, kept)
            done, after = f"Kept {entries[0].name}", before
        else:
            kept, after = (), mend_dictionaries(project, entries, choice)
            done = project.dictionary_history()[0].reason
    except InputError as error:
        current.say(str(error), "error")
        return
    st.session_state[_UNDO] = _Undo(project.id, done, before, after, kept)


def undo(project: Project) -> None:
    """Take back what was done last. For a callback."""
    last: _Undo | None = st.session_state.pop(_UNDO, None)
    if last is None:
        return
    try:
        if last.kept:
            keep_entries(project, last.kept, are_kept=False)
        elif project.dictionary_version() == last.after:
            project.restore_dictionaries(last.before)
    except InputError as error:
        current.say(str(error), "error")


def show_undo(project: Project, place: str) -> None:
    """Draw what was done last and the button that takes it back, while nothing else changed."""
    last: _Undo | None = st.session_state.get(_UNDO)
    if last is None or last.project_id != project.id:
        return
    if project.dictionary_version() != last.after:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(elements.plain(f"{last.done}."))
        st.button(
            "Undo",
            key=f"health_undo_{place}",
            icon=":material/undo:",
            type="tertiary",
            on_click=undo,
            args=(project,),
        )


def show_line(project: Project, place: str) -> None:
    """Draw one line with a button that opens the panel; nothing if no phrase looks wrong.

    A large dictionary takes seconds to check: then the line comes after the rest of the page.
    """
    has_both = project.text_key() and project.dictionary_version()
    if has_both and not is_checked(project, may_begin=False):
        # The check begins a second later: a click is answered before, and may make it needless.
        live.redraw("1s", show_wait, lambda: is_checked(project))
        return
    said = summary(project)
    if not said:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"health_line_{place}"):
        st.markdown(f":material/warning: {elements.plain(said)}", width="content")
        if st.button("Look at them", key=f"health_look_{place}", type="tertiary"):
            state.open_tab(TAB)
            elements.go_to("labels")


def show_wait() -> None:
    """Say that the line will come."""
    st.caption("Checking the dictionaries …")


# ---- checking -------------------------------------------------------------------------------


def _key(project: Project) -> Key:
    kept = tuple(sorted(kept_entries(project)))
    return (project.id, project.labels_key(), doubts_key(project), kept)


@st.cache_resource(max_entries=_KEPT, show_spinner="Checking the dictionaries")
def _health(key: Key, _project: Project) -> Health:
    checks = _checks()
    if (check := checks.held(key, _project.id)) is not None:
        with suppress(CancelledError):
            return check.result()
    health = health_of(_project, *_inputs(_project))
    checks.keep(key, _project.id, health)
    return health


def _inputs(
    project: Project,
) -> tuple[Sequence[Dictionary], DistantLabels, Sequence[Sentence]]:
    return state.dictionaries(project), state.labels(project), corpus.sentences(project)


class _Checks:
    """Dictionaries that a thread checks, one after the other; the latest of each project counts."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[Key, Future[Health]]] = {}  # by project
        self._thread = ThreadPoolExecutor(1, "health")
        self._lock = Lock()

    def held(self, key: Key, project_id: str) -> Future[Health] | None:
        """Return the check of these dictionaries; None if nobody has begun it."""
        latest = self._latest.get(project_id)
        return latest[1] if latest is not None and latest[0] == key else None

    def begun(self, key: Key, project: Project) -> Future[Health]:
        """Return the check of these dictionaries; begin it if nobody has."""
        inputs, language = _inputs(project), project.language()

        def check() -> Health:
            with in_language(language):
                return health_of(project, *inputs)

        with self._lock:
            held = self.held(key, project.id)
            return held or self._put(key, project.id, self._thread.submit(check))

    def keep(self, key: Key, project_id: str, health: Health) -> None:
        """Remember a check that was done without the thread."""
        done: Future[Health] = Future()
        done.set_result(health)
        with self._lock:
            self._put(key, project_id, done)

    def _put(self, key: Key, project_id: str, check: Future[Health]) -> Future[Health]:
        if project_id in self._latest:
            self._latest.pop(project_id)[1].cancel()
        self._latest[project_id] = key, check
        while len(self._latest) > _KEPT:
            self._latest.pop(next(iter(self._latest)))[1].cancel()
        return check


@st.cache_resource(show_spinner=False)
def _checks() -> _Checks:
    return _Checks()
