"""The kinds of things that services own: recipe, shop, course. A kind stays for ever.

A name that a process does not know is looked up, so a new kind holds at once everywhere.
"""

import re
from typing import Any, NamedTuple

from accounts.errors import UnknownObjectKind
from accounts.models import LONGEST_OBJECT_KIND, ObjectKind
from infra.declarations import DeclaredMemory, choose_words
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS

OBJECT_KIND_PATTERN = r"[a-z][a-z0-9_]*"
OBJECT_KIND_NAME = re.compile(rf"(?=.{{1,{LONGEST_OBJECT_KIND}}}$){OBJECT_KIND_PATTERN}", re.ASCII)


class DeclaredObjectKind(NamedTuple):
    """`words`: what one thing of it is called, by language."""

    name: str
    words: dict[str, Any]


def list_object_kinds() -> list[DeclaredObjectKind]:
    """All of them, by name: at most MOST_OBJECT_KINDS. One query of the default database by key."""
    rows = ObjectKind.objects.using(GLOBAL_ALIAS).order_by("name")
    return [DeclaredObjectKind(*row) for row in rows.values_list("name", "words")]


known_object_kinds = DeclaredMemory(list_object_kinds)


def find_word_for_kind(name: str, language: str) -> str:
    """What a thing of this kind is called; its name if the default database has not said so yet.
    Cost: as `DeclaredMemory.find`."""
    try:
        kind = known_object_kinds.find(lambda kind: kind.name == name)
    except NO_ANSWER:
        return name
    return name if kind is None else choose_words(kind.words, language)


def require_object_kind(name: str) -> None:
    """Raises: UnknownObjectKind; errors of NO_ANSWER. Cost: as `DeclaredMemory.find`."""
    if known_object_kinds.find(lambda kind: kind.name == name) is None:
        names = [kind.name for kind in known_object_kinds.list_all()]
        raise UnknownObjectKind(names)
