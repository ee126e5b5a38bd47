"""Cached lists: all an account follows, those it follows quietly, its newest open followers (S3).

The version of the first two is that of the following count, of the third that of the followers
count; both grow with every edge. Lists are changed in place by the change stream, never dropped
and rebuilt on each follow (S3 10.4.2's thrash).
"""

from collections.abc import Iterable, Mapping

from django.conf import settings

from infra.caching.lists import Item, ListCache, ListChange
from relations.types import Attribute, Edge, Listed

FOLLOWING = ListCache("relations.following:v1", ttl_s=14 * 86_400, max_items=1_000_000)
QUIET = ListCache("relations.quiet:v1", ttl_s=14 * 86_400, max_items=1_000_000)
FOLLOWERS = ListCache(
    "relations.followers:v1", ttl_s=14 * 86_400, max_items=settings.FOLLOWERS_CACHED
)

# Which edges are on which list.
FOLLOWS = frozenset((Attribute.FOLLOW, Attribute.WHISPER))
OPEN = frozenset((Attribute.FOLLOW,))
QUIETLY = frozenset((Attribute.WHISPER,))


def member_of(account_id: int) -> bytes:
    """Fixed-width, so that ties in a sorted set order as the numbers do."""
    return b"%010d" % account_id


def account_of(member: bytes) -> int:
    return int(member)


def to_item(listed: Listed) -> Item:
    return Item(listed.since_ms, member_of(listed.account_id))


def to_listed(item: Item) -> Listed:
    return Listed(item.score, account_of(item.member))


def list_change(
    before: int, after: int, added: Iterable[Listed] = (), removed: Iterable[int] = ()
) -> ListChange:
    return ListChange(before, after, [to_item(a) for a in added], [member_of(r) for r in removed])


def split(
    edges: Mapping[int, Edge], attributes: frozenset[Attribute]
) -> tuple[list[Listed], list[int]]:
    """Edges of these attributes as list members, others as removals; keyed by the other account."""
    on = {other for other, edge in edges.items() if edge.attribute in attributes}
    added = [Listed(edges[other].since_ms, other) for other in on]
    return added, [other for other in edges if other not in on]
