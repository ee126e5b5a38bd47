"""Values of tags."""

from collections.abc import Collection
from enum import IntEnum
from typing import NamedTuple

import xxhash


def tag_id_of(name: str) -> int:
    """The number of a normalized tag: 63 bits. It decides the shard, as account ids do."""
    return xxhash.xxh3_64_intdigest(name.encode()) >> 1


class TagListKind(IntEnum):
    """Which list of an account a tag is on. Stored as a number."""

    FOLLOWED = 0
    FEATURED = 1


class OwnTag(NamedTuple):
    """A tag on a list of an account. `name`: as the account typed it."""

    tag_id: int
    name: str
    since_ms: int


class TagQuery(NamedTuple):
    """Posts with at least one of the tags `any_of`, all of `all_of` and none of `none_of`.

    The names are normalized. `viewer_id`: None for a guest.
    """

    viewer_id: int | None
    any_of: Collection[str]
    all_of: Collection[str] = ()
    none_of: Collection[str] = ()
    only_media: bool = False

    @property
    def digest(self) -> str:
        """The same for the same posts: a name for keys."""
        tags = (self.any_of, self.all_of, self.none_of)
        text = f"{[sorted(names) for names in tags]} {self.only_media}"
        return f"tag-{xxhash.xxh3_64_hexdigest(text.encode())}"


class TagUse(NamedTuple):
    """How often an author used a tag. `last_moment`: of the author's latest post with it."""

    uses: int
    last_moment: int | None
