"""Tables of the pages that explain: consumers of changes, families of Redis keys."""

import re

from infra.changes.registry import (
    Consumer,
    consumers_of,
    is_inline_consumer_of,
    kinds,
    registered_consumers,
)
from lab.reference.tables import table
from operations.cache_families import NOT_CACHES, PURGEABLE

SENTENCE = re.compile(r"(.+?\.)(?=\s|$)", re.S)


def consumer_rows() -> str:
    """Which kinds each gets, whether the request runs it too, and what it does."""
    return table("| consumer | of | inline | what it does |", map(_row, registered_consumers()))


def _row(consumer: Consumer) -> str:
    of = sorted(kind for kind in kinds() if consumer in consumers_of(kind))
    inline = any(is_inline_consumer_of(consumer, kind) for kind in of)
    named = ", ".join(f"`{kind}`" for kind in of)
    name = consumer.__name__
    return f"| `{name}` | {named} | {'yes' if inline else 'no'} | {what_it_does(consumer)} |"


def what_it_does(consumer: Consumer) -> str:
    """The first sentence of its text."""
    said = SENTENCE.match(consumer.__doc__ or "")
    return " ".join(said[1].split()) if said else ""


def family_rows() -> str:
    """What each costs its readers when it is purged, or why it is never purged."""
    caches = [f"| `{family.name}` | {family.cost} |" for family in PURGEABLE.values()]
    others = [f"| `{name}` | {reason} |" for name, reason in NOT_CACHES.items()]
    purged = table("| a family that may be purged | costs |", caches)
    return f"{purged}\n\n{table('| another family | is |', others)}"
