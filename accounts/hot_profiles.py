"""Profiles with copies in process memory (hot keys), checked against the invalidation log.

An account may have been suspended or limited since a copy was made, and this process may not have
received the invalidation yet. So a reader of copies also reads the log, in the same round trip, and
uses the copies that are left.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.cache import profiles
from infra.caching.client import Command, redis
from infra.caching.hot_values import HotReply
from infra.caching.invalidation_log import LOG, LogRead


class ProfileReadPlan(NamedTuple):
    """Copies, the profiles to read from Redis, and the read of the log that the copies need."""

    copies: HotReply[int, bytes]
    log_read: LogRead | None

    def keys(self) -> list[bytes]:
        """For one MGET, together with other keys."""
        return profiles.keys(self.copies.missing)

    def log_commands(self) -> list[Command]:
        """At most one, for the same round trip."""
        return [self.log_read.command()] if self.log_read else []


def plan_profiles(account_ids: Iterable[int]) -> ProfileReadPlan:
    # The log first: the reply then has every entry that another thread applies after this line.
    log_read = LOG.plan_read()
    copies = profiles.hot.split(list(dict.fromkeys(account_ids)))
    return ProfileReadPlan(copies, log_read if copies.hits else None)


def complete_profiles(
    plan: ProfileReadPlan, replies: Sequence[bytes | None], log_replies: Sequence[Any]
) -> dict[int, bytes]:
    """Fragments by account; accounts that may not be shown are missing.

    `replies`: to the keys. `log_replies`: to `log_commands`. All None without Redis. Cost: nothing.
    After an invalidation one round trip for the copies, and one query per shard for profiles that
    Redis lacks.
    """
    copies, known = plan.copies, plan.copies.hits
    if plan.log_read is not None:
        known = _confirm(known, plan.log_read, log_replies[0])
    loaded = dict(zip(copies.missing, replies, strict=True))
    return profiles.finish(copies._replace(hits=known), loaded)


def load_shown_profiles(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Fragments by account. Cost: one round trip if Redis has them, even if all have copies."""
    plan = plan_profiles(account_ids)
    return complete_profiles(plan, *read_plan(plan, plan.keys()))


def read_plan(
    plan: ProfileReadPlan, keys: Sequence[bytes]
) -> tuple[list[bytes | None], Sequence[Any]]:
    """The values of the keys, and the replies to the plan's log commands. One round trip.

    All None without Redis.
    """
    log_commands = plan.log_commands()
    commands: list[Command] = [("MGET", *keys)] if keys else []
    try:
        replies = redis().run([*commands, *log_commands])
    except RedisError:
        return [None] * len(keys), [None] * len(log_commands)
    return (replies[0] if keys else []), replies[len(commands) :]


def _confirm(known: dict[int, bytes], log_read: LogRead, reply: Any | None) -> dict[int, bytes]:
    """The copies, after those that the log invalidates were read again. Without Redis all are."""
    if reply is None:
        return profiles.complete(dict.fromkeys(known))
    offset = LOG.apply(log_read, reply)
    is_unchanged = offset is not None and offset == log_read.since
    return known if is_unchanged else profiles.load_many(known)
