"""Posts with everything that is shown with them, in one round trip when warm."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from accounts.api.present import present_account
from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.client import Command, redis
from posts.api.present import present_status
from posts.cache import Fragments, complete_reading, plan_reading
from posts.ids import PostId


class Hydrated(NamedTuple):
    """`fragments`: posts that exist. `accounts`: JSON by author. `extra`: the caller's replies."""

    fragments: Fragments
    accounts: Mapping[int, bytes]
    extra: Sequence[Any] | None


def hydrate(ids: Sequence[PostId], extra: Sequence[Command] = ()) -> Hydrated:
    """Loads posts, authors and counts; `extra` commands ride along (replies None without Redis).

    Cost: one round trip and no SQL when warm; what is missing comes from its shard, once.
    """
    reading = plan_reading(ids, time.time())
    authors = list(dict.fromkeys(post_id.author_id for post_id in ids))
    post_commands = reading.commands()
    commands = [
        *post_commands,
        *(profiles.read_command(author) for author in authors),
        *(account_counts.read_command(author) for author in authors),
        *extra,
    ]
    replies, is_away = _ask(commands)
    posts, count = len(post_commands), len(authors)
    known = profiles.complete(dict(zip(authors, replies[posts:], strict=False)))
    counts = account_counts.complete(dict(zip(authors, replies[posts + count :], strict=False)))
    return Hydrated(
        complete_reading(reading, replies[:posts]),
        {a: present_account(profile, counts.get(a)) for a, profile in known.items()},
        None if is_away else replies[posts + 2 * count :],
    )


def _ask(commands: Sequence[Command]) -> tuple[Sequence[Any], bool]:
    try:
        return redis().run(commands), False
    except RedisError:
        return [None] * len(commands), True


def load_status_json(ids: Iterable[PostId]) -> dict[PostId, bytes]:
    """Status entities of the posts that exist. Cost: as hydrate."""
    wanted = list(ids)
    hydrated = hydrate(wanted)
    return {
        post_id: present_status(hydrated.fragments[post_id], hydrated.accounts[post_id.author_id])
        for post_id in wanted
        if post_id in hydrated.fragments and post_id.author_id in hydrated.accounts
    }
