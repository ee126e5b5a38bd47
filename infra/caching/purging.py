"""Removes families of caches from Redis, slowly, while requests use them.

A load in progress may write its entry again, as long as the load token is there (load_tokens.py).
Every change deletes the token, so such an entry is not older than the changes.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from infra.caching.scanning import RedisNode, list_nodes, run_each, scan


class CacheFamily(NamedTuple):
    """`name`: the family without its layout version, so that it covers old layouts too."""

    name: str
    # What readers pay until the cache is filled again.
    cost: str

    @property
    def pattern(self) -> str:
        return f"{self.name}:v[0-9]*:*"


class PurgeStep(NamedTuple):
    """One step. `looked_at` is an estimate. `position`: where to continue."""

    looked_at: int
    keys: Sequence[bytes]
    changed: int
    failed: int
    position: dict[str, Any]


def purge(
    families: Sequence[CacheFamily], count: int, after: dict[str, Any] | None, dry_run: bool
) -> Generator[PurgeStep, None, None]:
    """Scans all keys once per family, `count` at a time.

    `after`: the position of an earlier step. It is used if the node still exists.
    Safety: may run twice. Raises: RedisError. Cost: two round trips per step.
    """
    left = [family.name for family in families]
    if after is not None and after["family"] in left:
        families = families[left.index(after["family"]) :]
    for family in families:
        yield from _purge_family(family, count, after, dry_run)


def count_keys() -> int:
    """The number of keys of all families. Raises: RedisError."""
    return sum(int(node.client.dbsize()) for node in list_nodes())


def _purge_family(
    family: CacheFamily, count: int, after: dict[str, Any] | None, dry_run: bool
) -> Iterator[PurgeStep]:
    begun = after if after is not None and after["family"] == family.name else None
    for node in list_nodes():
        if begun is None or node.name >= begun["node"]:
            cursor = begun["cursor"] if begun and begun["node"] == node.name else 0
            yield from _purge_node(family, node, cursor, count, dry_run)


def _purge_node(
    family: CacheFamily, node: RedisNode, cursor: int, count: int, dry_run: bool
) -> Iterator[PurgeStep]:
    left, word = int(node.client.dbsize()), "EXISTS" if dry_run else "UNLINK"
    while True:
        cursor, keys = scan(node, cursor, family.pattern, count)
        replies = run_each(node, [(word, key) for key in keys])
        failed = sum(isinstance(reply, RedisError) for reply in replies)
        changed = sum(reply for reply in replies if not isinstance(reply, RedisError))
        looked_at = min(max(count, len(keys)), max(left, len(keys)))
        left -= looked_at
        # After the last step of a node: a cursor of 0 would start the same node again.
        position = {"family": family.name, "node": node.name + ("" if cursor else "~")}
        yield PurgeStep(looked_at, keys, changed, failed, position | {"cursor": cursor})
        if not cursor:
            return


def flush_redis() -> None:
    """Empties Redis, on all nodes.

    For databases that were restored to an earlier moment: what Redis has may be newer. Raises:
    RedisError.
    """
    for node in list_nodes():
        [reply] = run_each(node, [("FLUSHDB",)])
        if isinstance(reply, RedisError):
            raise reply
