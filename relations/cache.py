"""What relations keep in Redis: lists, and what lies between a viewer and others (a relationship).

Lists are all an account follows, those it follows quietly, its newest open followers (S3). The
version of the first two is that of the following count, of the third that of the followers
count; both grow with every edge. Lists are changed in place by the change stream, never dropped
and rebuilt on each follow (S3 10.4.2's thrash).
"""

from collections.abc import Iterable, Mapping

from django.conf import settings

from infra.caching.client import Command
from infra.caching.lists import Item, ListCache, ListChange
from infra.caching.relationship_cache import RelationshipCache
from relations.types import Attribute, Edge, ListedAccount

FOLLOWING = ListCache("relations.following:v1", ttl_s=14 * 86_400, max_items=1_000_000)
QUIET = ListCache("relations.quiet:v1", ttl_s=14 * 86_400, max_items=1_000_000)
FOLLOWERS = ListCache(
    "relations.followers:v1", ttl_s=14 * 86_400, max_items=settings.FOLLOWERS_CACHED
)
# What lies between a viewer and others. A packed hash costs 9 bytes a pair, and is walked for each
# other that is asked for: with 127 pairs 100 strangers cost Redis 80 µs, with 255 twice that. The
# filter of 5,000 relations is still cheap to fetch whole (9 kB; of 500: 1 kB).
RELATIONSHIPS = RelationshipCache(
    "relations.relationship:v1",
    ttl_s=86_400,
    filter_ttl_s=14 * 86_400,
    max_pairs=127,
    max_filtered=5_000,
    max_pairs_unfiltered=10_000,
)

# Which edges are on which list.
OPEN_FOLLOWS = frozenset((Attribute.FOLLOW,))
QUIET_FOLLOWS = frozenset((Attribute.WHISPER,))


def member_of(account_id: int) -> bytes:
    """Fixed-width, so that ties in a sorted set order as the numbers do."""
    return b"%010d" % account_id


def account_of(member: bytes) -> int:
    return int(member)


def to_item(listed: ListedAccount) -> Item:
    return Item(listed.since_ms, member_of(listed.account_id))


def to_listed(item: Item) -> ListedAccount:
    return ListedAccount(item.score, account_of(item.member))


def list_change(
    before: int, after: int, added: Iterable[ListedAccount] = (), removed: Iterable[int] = ()
) -> ListChange:
    return ListChange(before, after, [to_item(a) for a in added], [member_of(r) for r in removed])


def split_by_attribute(
    edges: Mapping[int, Edge], attributes: frozenset[Attribute]
) -> tuple[list[ListedAccount], list[int]]:
    """Edges of these attributes as list members, others as removals; keyed by the other account."""
    on = {other for other, edge in edges.items() if edge.attribute in attributes}
    added = [ListedAccount(edges[other].since_ms, other) for other in on]
    return added, [other for other in edges if other not in on]


def relationship_changes(pairs: Iterable[tuple[int, int]]) -> list[Command]:
    """What tells the cache that rows between these viewers and others have changed."""
    by_viewer: dict[int, list[int]] = {}
    for viewer_id, other_id in pairs:
        by_viewer.setdefault(viewer_id, []).append(other_id)
    return [RELATIONSHIPS.change_command(viewer, others) for viewer, others in by_viewer.items()]
