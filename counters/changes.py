"""The changes counters emit."""

from typing import ClassVar

from infra.changes.registry import Payload


class CountsRepaired(Payload, frozen=True):
    """A recount moved counts of this subject of the owner: what was cached of them is wrong."""

    kind: ClassVar[str] = "counters.repaired"

    subject: int
