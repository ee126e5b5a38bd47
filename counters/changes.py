"""The changes that counters emit."""

from typing import ClassVar

from infra.changes.registry import Payload


class CountsRepaired(Payload, frozen=True):
    """A recount repaired counts of this subject of the owner, so cached counts are wrong."""

    kind: ClassVar[str] = "counters.repaired"

    subject: int
