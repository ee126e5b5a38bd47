"""The one builder of Redis keys, `family:v<n>:{owner}:part`, and how long a key lives.

The owner is in braces, so that Redis Cluster puts all keys of one account on one node. The family
names the owning module and the version of the layout: a new layout is a new family.
"""

import random
from collections.abc import Sequence


def key(family: str, owner: int | str, part: int | str | None = None) -> bytes:
    """The key of one owner's entry, or of one part of it."""
    if part is None:
        return f"{family}:{{{owner}}}".encode()
    return f"{family}:{{{owner}}}:{part}".encode()


def keys(family: str, owners: Sequence[int]) -> list[bytes]:
    """The key of each owner's entry, built in one step, which is faster than one by one."""
    pattern = f"{family}:{{%d}} " * len(owners)
    return (pattern % tuple(owners)).encode().split()


def keys_of_parts(family: str, numbers: Sequence[int]) -> list[bytes]:
    """The keys of parts, as `key` makes them. `numbers`: owner, part, owner, part …"""
    pattern = f"{family}:{{%d}}:%d " * (len(numbers) // 2)
    return (pattern % tuple(numbers)).encode().split()


def jittered_ms(ttl_s: int) -> int:
    """The time to live, up to a tenth shorter at random, so that entries do not expire together."""
    return int(ttl_s * 1000 * random.uniform(0.9, 1.0))
