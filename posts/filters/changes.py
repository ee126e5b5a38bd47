"""The changes that filters emit."""

from typing import ClassVar

from infra.changes.registry import Payload


class FiltersEdited(Payload, frozen=True):
    """The filters of the owner changed; consumers read the rows."""

    kind: ClassVar[str] = "posts.filters_edited"
