"""The types of posts that services declared: `status` is built in, and not among them.

A name that a process does not know is looked up, so a new type holds at once everywhere; one that
was removed, IN_PROCESS_S longer.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from infra.declarations import DeclaredMemory
from infra.sharding.placement import GLOBAL_ALIAS
from posts.models import PostType
from posts.types import LONGEST_TYPE

# A dot, because names without one are ours: recipe.cooked
TYPE_PATTERN = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+"
TYPE_NAME = re.compile(rf"(?=.{{3,{LONGEST_TYPE}}}$){TYPE_PATTERN}", re.ASCII)


class DeclaredType(NamedTuple):
    """`words`: what it is called, by language."""

    name: str
    words: dict[str, Any]


def list_types() -> list[DeclaredType]:
    """All of them, by name: at most MOST_TYPES. One query of the default database by key."""
    rows = PostType.objects.using(GLOBAL_ALIAS).order_by("name")
    return [DeclaredType(*row) for row in rows.values_list("name", "words")]


known_types = DeclaredMemory(list_types)


def list_type_names(wanted: str | None) -> Sequence[str]:
    """At most IN_PROCESS_S old, and as they are now if `wanted` is not among them.

    Raises, cost: as `DeclaredMemory.find`.
    """
    if wanted is not None:
        known_types.find(lambda declared: declared.name == wanted)
    return [declared.name for declared in known_types.list_all()]
