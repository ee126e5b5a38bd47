"""Tables of the pages that explain: consumers, families of Redis keys, edges, decisions."""

import re

from infra.changes.registry import (
    Consumer,
    consumers_of,
    is_inline_consumer_of,
    kinds,
    registered_consumers,
)
from lab.reference.tables import table
from lab.runner.child import CHECKOUT
from operations.verbs.caches import NOT_CACHES, PURGEABLE
from relations.states import NEXT, Transition
from relations.types import Attribute

DECISIONS = CHECKOUT / "docs/explanation/decisions"
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


def edge_rows() -> str:
    """The next state by state and transition."""
    transitions = " | ".join(f"`{transition.name}`" for transition in Transition)
    rows = [
        f"| `{state.name}` | {' | '.join(map(_state, following.values()))} |"
        for state, following in NEXT.items()
    ]
    return table(f"| state | {transitions} |", rows)


def _state(state: Attribute | None) -> str:
    return "refused" if state is None else f"`{state.name}`"


def decision_items() -> str:
    pages = sorted(DECISIONS.glob("0*.md"))
    titles = [(page.name, page.read_text().partition("\n")[0].removeprefix("# ")) for page in pages]
    return "\n".join(f"- [{title}]({name})" for name, title in titles)
