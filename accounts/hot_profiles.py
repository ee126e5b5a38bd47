"""Profiles that may be copied in process memory (hot keys): believed only once it was asked.

    accounts.restricted:v1:{0}   a stamp at random, another one after anybody was restricted

A copy may be of an account that was suspended or limited since, in a process that has not heard of
it. So whoever finds copies reads the stamp, with what it has to ask for anyway, and believes them
only while it is the one this process saw before it asked for them. Acts of moderators are rare:
another stamp, or none, and all copies of profiles are dropped.
"""

import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from redis.exceptions import RedisError

from accounts.cache import profiles
from infra.caching.client import Command, redis
from infra.caching.hot_values import HotReply
from infra.caching.keys import key

VALIDATOR = key("accounts.restricted:v1", 0)
VALIDATOR_BYTES = 8
# The stamp this process saw last; None: it knows none, and believes no copy.
_seen: list[bytes | None] = [None]


class ProfileReadPlan(NamedTuple):
    """Copies, profiles to be asked for, and the stamp that the copies were made under."""

    copies: HotReply[int, bytes]
    seen: bytes | None

    def keys(self) -> list[bytes]:
        """To be read by one MGET, beside others; the replies are for `complete_profiles`."""
        asked = profiles.keys(self.copies.missing)
        return [VALIDATOR, *asked] if self.copies.known else asked


def plan_profiles(account_ids: Iterable[int]) -> ProfileReadPlan:
    # The stamp before the copies: what another thread learns between the two is news to this one.
    seen = _seen[0]
    return ProfileReadPlan(profiles.hot.split(list(dict.fromkeys(account_ids))), seen)


def complete_profiles(
    reading: ProfileReadPlan, replies: Sequence[bytes | None]
) -> dict[int, bytes]:
    """Fragments by account; whom nobody is to be shown is missing. Without Redis all replies None.

    Cost: nothing; after news one round trip for what was copied, and one query per shard for what
    Redis lacks.
    """
    copies = reading.copies
    if not copies.known:
        return profiles.finish(copies, dict(zip(copies.missing, replies, strict=True)))
    stamp, *entries = replies
    held = copies.known
    if not _holds(reading.seen, stamp):
        held = profiles.load_many(copies.known)
    asked = dict(zip(copies.missing, entries, strict=True))
    return profiles.finish(copies._replace(known=held), asked)


def load_shown_profiles(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Fragments by account. Cost: one round trip when warm, also when all are hot."""
    reading = plan_profiles(account_ids)
    keys = reading.keys()
    try:
        replies = redis().call("MGET", *keys) if keys else []
    except RedisError:
        replies = [None] * len(keys)
    return complete_profiles(reading, replies)


def new_validator_command() -> Command:
    """Has every process drop its copies. To be sent once the cached profiles were changed."""
    return ("SET", VALIDATOR, secrets.token_bytes(VALIDATOR_BYTES))


def _holds(seen: bytes | None, stamp: bytes | None) -> bool:
    """Whether copies made under the one still hold under the other; if not, all are dropped."""
    if stamp is not None and stamp == seen:
        return True
    # Copies first: whoever reads the new stamp must not find those from before.
    profiles.forget_all()
    _seen[0] = stamp
    if stamp is None:
        _create_validator()
    return False


def _create_validator() -> None:
    """A flush took it. Somebody else's stands; without Redis there is none."""
    try:
        redis().call(*new_validator_command(), "NX")
    except RedisError:
        return
