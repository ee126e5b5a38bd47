"""Cached lists: the whole following list, and the newest followers (seed S3).

The version of a list is the version of the counter that counts it. Both lists are changed in
place by the change stream, never dropped and rebuilt on each follow (S3 10.4.2's thrash).
"""

from collections.abc import Iterable, Mapping

from django.conf import settings

from infra.caching.lists import Item, ListCache, ListChange
from relations.types import Attribute, Edge, Listed

FOLLOWING = ListCache("relations.following:v1", ttl_s=14 * 86_400, max_items=1_000_000)
FOLLOWERS = ListCache(
    "relations.followers:v1", ttl_s=14 * 86_400, max_items=settings.FOLLOWERS_CACHED
)


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


def split(edges: Mapping[int, Edge]) -> tuple[list[Listed], list[int]]:
    """Live edges as list members, ended ones as removals; keyed by the account at the other end."""
    live = {other for other, edge in edges.items() if edge.attribute is Attribute.FOLLOW}
    added = [Listed(edges[other].since_ms, other) for other in live]
    return added, [other for other in edges if other not in live]
