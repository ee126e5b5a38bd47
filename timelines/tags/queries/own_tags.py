"""The tags that an account follows or features, from its shard. Few requests read them."""

from collections.abc import Collection

from infra.api.errors import InvalidCursor
from infra.api.ids import MOST_DIGITS
from infra.api.pages import Page, Window
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all, fetch_one
from timelines.tags.types import OwnTag, TagListKind

# At most MOST_FOLLOWED rows. Both orders are of the time, newest first.
LIST = """
SELECT tag_id, name, since_ms FROM tags_accounttag WHERE owner_id = %s AND kind = %s
ORDER BY since_ms DESC, tag_id DESC
"""
AMONG = """
SELECT kind, tag_id FROM tags_accounttag WHERE owner_id = %s AND tag_id = ANY(%s::bigint[])
"""

AT_HOME = "SELECT is_at_home FROM tags_tagsettings WHERE owner_id = %s"


def list_own_tags(owner_id: int, kind: TagListKind) -> list[OwnTag]:
    """The whole list, newest first. One query by key."""
    return [OwnTag(*row) for row in fetch_all(shard_of(owner_id), LIST, (owner_id, kind))]


def are_tags_at_home(owner_id: int) -> bool:
    """Whether the account wants posts with its followed tags at home. One query by key."""
    row = fetch_one(shard_of(owner_id), AT_HOME, (owner_id,))
    return bool(row and row[0])


def page_of_own_tags(owner_id: int, kind: TagListKind, window: Window) -> Page[OwnTag]:
    """A page of the list. Its cursors are ids of tags; one whose tag left the list ends it.

    Raises: InvalidCursor. Cost: one query.
    """
    tags = list_own_tags(owner_id, kind)
    below = _place_of(window.max_id, tags) + 1 if window.max_id else 0
    lower = window.min_id or window.since_id
    above = _place_of(lower, tags) if lower else len(tags)
    begin = max(below, above - window.limit) if window.min_id else below
    on_page = tags[begin:above][: window.limit]
    has_older = begin + len(on_page) < len(tags)
    if not on_page:
        return Page([], None, None)
    older = str(on_page[-1].tag_id) if has_older else None
    return Page(on_page, older, str(on_page[0].tag_id))


def find_lists_of(owner_id: int, tag_ids: Collection[int]) -> dict[int, set[TagListKind]]:
    """The lists that each of these tags is on. One query by key."""
    kinds: dict[int, set[TagListKind]] = {tag_id: set() for tag_id in tag_ids}
    for kind, tag_id in fetch_all(shard_of(owner_id), AMONG, (owner_id, list(tag_ids))):
        kinds[tag_id].add(TagListKind(kind))
    return kinds


def _place_of(cursor: str, tags: list[OwnTag]) -> int:
    """The index of the cursor's tag; the end of the list if it is not there any more."""
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > MOST_DIGITS:
        raise InvalidCursor
    places = {tag.tag_id: place for place, tag in enumerate(tags)}
    return places.get(int(cursor), len(tags))
