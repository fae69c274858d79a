"""Words that end many longer phrases, and phrases that name a class by its use."""

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.dictionaries import Dictionary, active_phrases, is_common_word, singular
from engine.health.entries import folded
from engine.health.families import Family
from engine.health.ids import places_above, places_of

_HEAD_NAMES = 100  # longer names that end with a word, from which on it names a class of them
_HEAD_SHARE = 0.01  # of all phrases of a type, from which on a rare word names a class, too
_FEWEST_HEAD_NAMES = 20  # enough for an everyday word in a small dictionary, with that share
# After a name, these say that it names a use, which many things have: "analgesic agents".
_USES = frozenset(("agent", "drug", "medication", "preparation", "product"))


class Heads:
    """How many longer phrases end with a word, and which phrases name a class by its use."""

    def __init__(
        self, dictionaries: Sequence[Dictionary], families: Mapping[tuple[str, str], Family]
    ) -> None:
        names: dict[tuple[str, str], set[str]] = {}
        self._classes: set[tuple[str, str]] = set()
        self._sizes: Counter[str] = Counter()
        self._endings: dict[str, str] = {}
        places = {
            place for family in families.values() for id in family.ids for place in places_of(id)
        }
        self._below: dict[str, set[str]] = {}
        latest = ""  # names of one thing mostly follow each other
        for dictionary in dictionaries:
            for phrase in active_phrases(dictionary):
                self._sizes[phrase.entity_type] += 1
                if phrase.canonical_id != latest:
                    latest = phrase.canonical_id
                    for place in places.intersection(places_above(latest)):
                        self._below.setdefault(place, set()).add(latest)
                start, _, last = phrase.text.rpartition(" ")
                if not start or ", " in phrase.text:
                    continue
                head = (self._ending(last), phrase.entity_type)
                # Names of one thing count once, where the dictionary tells things apart.
                names.setdefault(head, set()).add(phrase.canonical_id or phrase.text.casefold())
                if phrase.canonical_id and head[0] in _USES:
                    key = (folded(start), phrase.entity_type)
                    if key in families and phrase.canonical_id in families[key].ids:
                        self._classes.add(key)
        self._counts = {head: len(longer) for head, longer in names.items()}

    def count(self, family: Family) -> int:
        """Return how many longer names end with this word if that makes it generic, else 0.

        An everyday word ("disease") needs less proof than a rare one ("carcinoma"), which may be a
        name by itself however many longer ones there are.
        """
        count = self._counts.get((family.folded, family.entity_type), 0)
        is_usual = count >= _HEAD_SHARE * max(self._sizes[family.entity_type], 1)
        is_many = count >= _HEAD_NAMES
        if is_common_word(family.folded):
            return count if is_many or (is_usual and count >= _FEWEST_HEAD_NAMES) else 0
        return count if is_many and is_usual else 0

    def below(self, family: Family) -> int:
        """Return how many things are below this one in the tree of ids if they are many, else 0."""
        places = [place for id in family.ids for place in places_of(id)]
        count = max((len(self._below.get(place, ())) for place in places), default=0)
        return count if count >= _HEAD_NAMES else 0

    def is_class(self, family: Family) -> bool:
        """Return whether the dictionary lists "… agents" or the like as another name of it."""
        return (family.folded, family.entity_type) in self._classes

    def _ending(self, word: str) -> str:
        known = self._endings.get(word)
        if known is None:
            known = self._endings[word] = singular(word.casefold())
        return known
