"""The changes counters emit."""

from typing import ClassVar

from infra.changes.registry import Payload


class CountsMended(Payload, frozen=True):
    """A recount moved counts of this subject of the owner: what was cached of them is wrong."""

    kind: ClassVar[str] = "counters.mended"

    subject: int
