"""Leases over the fleet: of all processes that miss an entry, one reads the source.

    <family>:{owner}:lease   a random token of whoever loads, for LOCK_MS

A lease saves work and nothing rests on it: a holder that dies is waited for a moment only, and one
that was slow is fenced by the version of what it read: an older write never lands.
"""

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from infra.caching.client import Command, load_script, redis
from infra.caching.keys import key

RELEASE = load_script(Path(__file__).with_name("lua") / "lease_release.lua")
LOCK_MS = 2_000


class LoadLocks(NamedTuple):
    """What was asked for: owners of ours to load, and those that somebody else is loading."""

    family: str
    token: str
    acquired: list[int]
    busy: list[int]

    def release_commands(self) -> list[Command]:
        return [RELEASE.on([_key(self.family, owner)], self.token) for owner in self.acquired]


def acquire_load_locks(family: str, owners: Sequence[int]) -> LoadLocks:
    """Raises: RedisError. Cost: one round trip."""
    token = secrets.token_hex(8)
    commands = [("SET", _key(family, owner), token, "NX", "PX", LOCK_MS) for owner in owners]
    got = [reply is not None for reply in redis().run(commands)]
    ours = [owner for owner, is_ours in zip(owners, got, strict=True) if is_ours]
    return LoadLocks(family, token, ours, [owner for owner in owners if owner not in ours])


def _key(family: str, owner: int) -> bytes:
    return key(family, owner, "load_lock")
