"""Profiles with copies in process memory (hot keys), and the validator that the copies need.

    accounts.restricted:v1:{0}   random bytes; every restriction of an account replaces them

An account may have been suspended or limited since a copy was made, and this process may not have
received the invalidation yet. So a reader of copies also reads the validator, in the same round
trip. Copies count only while the validator is the one that this process saw before it read them.
Restrictions are rare: if the validator has changed or is missing, all copies of profiles go.
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
# The validator that this process saw last; None: it knows none, and no copy counts.
_seen: list[bytes | None] = [None]


class ProfileReadPlan(NamedTuple):
    """Copies, the profiles to read from Redis, and the validator of the copies."""

    copies: HotReply[int, bytes]
    seen: bytes | None

    def keys(self) -> list[bytes]:
        """For one MGET, together with other keys; the replies are for `complete_profiles`."""
        missing = profiles.keys(self.copies.missing)
        return [VALIDATOR, *missing] if self.copies.hits else missing


def plan_profiles(account_ids: Iterable[int]) -> ProfileReadPlan:
    # The validator first: if another thread replaces it after this line, the copies do not count.
    seen = _seen[0]
    return ProfileReadPlan(profiles.hot.split(list(dict.fromkeys(account_ids))), seen)


def complete_profiles(plan: ProfileReadPlan, replies: Sequence[bytes | None]) -> dict[int, bytes]:
    """Fragments by account; accounts that may not be shown are missing.

    `replies`: all None without Redis. Cost: nothing. After a restriction one round trip for the
    copies, and one query per shard for profiles that Redis lacks.
    """
    copies = plan.copies
    if not copies.hits:
        return profiles.finish(copies, dict(zip(copies.missing, replies, strict=True)))
    validator, *entries = replies
    known = copies.hits
    if not _is_valid(plan.seen, validator):
        known = profiles.load_many(copies.hits)
    loaded = dict(zip(copies.missing, entries, strict=True))
    return profiles.finish(copies._replace(hits=known), loaded)


def load_shown_profiles(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Fragments by account. Cost: one round trip if Redis has them, even if all have copies."""
    plan = plan_profiles(account_ids)
    keys = plan.keys()
    try:
        replies = redis().call("MGET", *keys) if keys else []
    except RedisError:
        replies = [None] * len(keys)
    return complete_profiles(plan, replies)


def new_validator_command() -> Command:
    """Makes every process drop its copies. To be sent after the cached profiles were changed."""
    return ("SET", VALIDATOR, secrets.token_bytes(VALIDATOR_BYTES))


def _is_valid(seen: bytes | None, validator: bytes | None) -> bool:
    """Whether copies made under `seen` still count; if not, drops all copies."""
    if validator is not None and validator == seen:
        return True
    # Copies first: a thread that reads the new validator must not find old copies.
    profiles.forget_all()
    _seen[0] = validator
    if validator is None:
        _create_validator()
    return False


def _create_validator() -> None:
    """After a flush. Keeps one that another process created; does nothing without Redis."""
    try:
        redis().call(*new_validator_command(), "NX")
    except RedisError:
        return
