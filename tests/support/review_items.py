"""A sentence that several methods read differently, as items to review."""

from engine.review.items import make_items
from engine.text.model import Entity
from engine.text.tokenization import make_document

TEXT = "Chronic kidney disease and gout were treated with lead, then with gold."
#       0       8      15      23  27   32   37   45      49   54    60   66


def at(surface, entity_type, score=None, text=TEXT):
    start = text.index(surface)
    return Entity(start, start + len(surface), entity_type, score=score)


DOCUMENT = make_document("d", TEXT)
FOUND = {
    "conf_mpu": {
        "d": (
            at("Chronic kidney disease", "Disease", 0.9),
            at("gout", "Disease", 0.99),
            at("gold", "Chemical", 0.6),
        )
    },
    "mpn": {"d": (at("kidney disease", "Disease", 0.8), at("gout", "Disease", 0.95))},
    "dictionary": {"d": (at("gout", "Disease"), at("lead", "Chemical"))},
}


def items(entities=FOUND):
    return make_items([DOCUMENT], entities)


def texts(queue):
    return [item.text for item in queue]
