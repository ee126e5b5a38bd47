"""The types of posts that services declared: `status` is built in, and not among them.

Each process keeps their names for IN_PROCESS_S. A name that it does not know is looked up, so a new
type holds at once everywhere; one that was removed, a little longer.
"""

import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS
from posts.models import PostType
from posts.types import LONGEST_TYPE

IN_PROCESS_S = 30
# A dot, because names without one are ours: recipe.cooked
TYPE_PATTERN = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+"
TYPE_NAME = re.compile(rf"(?=.{{3,{LONGEST_TYPE}}}$){TYPE_PATTERN}", re.ASCII)


class DeclaredType(NamedTuple):
    """`words`: what it is called, by language."""

    name: str
    words: dict[str, Any]


class _KnownNames(NamedTuple):
    """`until`: on the monotonic clock."""

    names: Sequence[str]
    until: float


_NONE = _KnownNames((), 0.0)
_known: dict[int, _KnownNames] = {}


def list_types(tenant: int) -> list[DeclaredType]:
    """All of them, by name: at most MOST_TYPES. One query of the default database by key."""
    rows = PostType.objects.using(GLOBAL_ALIAS).filter(tenant=tenant).order_by("name")
    return [DeclaredType(*row) for row in rows.values_list("name", "words")]


def list_type_names(tenant: int, wanted: str | None) -> Sequence[str]:
    """At most IN_PROCESS_S old, and as they are now if `wanted` is not among them. If the default
    database is away, the last ones stay.

    Raises: errors of NO_ANSWER, if the process does not know `wanted`. Cost: nothing, or one query.
    """
    known = _known.get(tenant, _NONE)
    has_it = wanted is None or wanted in known.names
    if has_it and time.monotonic() < known.until:
        return known.names
    try:
        names = tuple(declared.name for declared in list_types(tenant))
    except NO_ANSWER:
        if not has_it:
            raise
        return known.names
    _known[tenant] = _KnownNames(names, time.monotonic() + IN_PROCESS_S)
    return names


def forget_type_names() -> None:
    """The next request of this process reads them again."""
    _known.clear()
