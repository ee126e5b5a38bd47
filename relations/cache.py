"""The Redis caches of relations: edge lists, and the relationships of a viewer with others.

The lists are all follows of an account, its quiet follows, and its newest open followers (S3). The
first two have the version of the following count and are written together. The third has the
version of the followers count. Both versions grow with every edge. Consumers change a list in
place: it is not dropped and rebuilt at each follow (S3 10.4.2).
"""

from collections.abc import Iterable, Mapping

from infra.caching.client import Command
from infra.caching.lists import Item, ListCache, ListChange
from infra.caching.relationship_cache import RelationshipCache
from relations.types import Attribute, Edge, ListedAccount, Relationship

# Of the newest followers; older pages come from the shard.
FOLLOWERS_CACHED = 10_000
FOLLOWING = ListCache("relations.following:v1", ttl_s=14 * 86_400, max_items=1_000_000)
QUIET = ListCache(
    "relations.quiet:v1", ttl_s=14 * 86_400, max_items=1_000_000, loaded_with=FOLLOWING.family
)
FOLLOWERS = ListCache("relations.followers:v1", ttl_s=14 * 86_400, max_items=FOLLOWERS_CACHED)
# Redis walks a packed hash for each account that is looked up, so the cost of a page grows with
# `max_pairs`. The filter is fetched whole, so `max_filtered` limits its size to 9 kB.
RELATIONSHIPS = RelationshipCache(
    "relations.relationship:v4",
    ttl_s=86_400,
    filter_ttl_s=14 * 86_400,
    max_pairs=127,
    max_filtered=5_000,
    max_pairs_unfiltered=10_000,
    read=Relationship.from_packed,
)

MEMBER_DIGITS = 10
# The attributes of the edges on a list.
OPEN_FOLLOWS = frozenset((Attribute.FOLLOW,))
QUIET_FOLLOWS = frozenset((Attribute.WHISPER,))


def member_of(account_id: int) -> bytes:
    """Of fixed width, so that members with equal scores sort as their numbers."""
    return b"%010d" % account_id


def account_id_of_member(member: bytes) -> int:
    """Raises ValueError for anything but the result of `member_of`."""
    if len(member) < MEMBER_DIGITS or not member.isdigit():
        raise ValueError("not a member of an edge list")
    return int(member)


def to_item(listed: ListedAccount) -> Item:
    return Item(listed.since_ms, member_of(listed.account_id))


def to_listed(item: Item) -> ListedAccount:
    return ListedAccount(item.score, account_id_of_member(item.member))


def list_change(
    before: int, after: int, added: Iterable[ListedAccount] = (), removed: Iterable[int] = ()
) -> ListChange:
    return ListChange(before, after, [to_item(a) for a in added], [member_of(r) for r in removed])


def split_by_attribute(
    edges: Mapping[int, Edge], attributes: frozenset[Attribute]
) -> tuple[list[ListedAccount], list[int]]:
    """Edges with these attributes as members, the others as removals. Keys: the other accounts."""
    on = {other for other, edge in edges.items() if edge.attribute in attributes}
    added = [ListedAccount(edges[other].since_ms, other) for other in on]
    return added, [other for other in edges if other not in on]


def relationship_changes(pairs: Iterable[tuple[int, int]]) -> list[Command]:
    """Commands that drop these pairs of viewer and other account from the relationship cache."""
    by_viewer: dict[int, list[int]] = {}
    for viewer_id, other_id in pairs:
        by_viewer.setdefault(viewer_id, []).append(other_id)
    return [RELATIONSHIPS.change_command(viewer, others) for viewer, others in by_viewer.items()]
