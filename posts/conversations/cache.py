"""Which conversations of an account are unread, in Redis, for up to five minutes.

    posts.conversations.unread:v1:{owner}        random bytes: the validator
    posts.conversations.unread:v1:{owner}:list   the validator that the reader got, and the ids of
                                                 the latest posts, 10 bytes each

The list is valid while its validator is the owner's. Each write of an owner's conversations deletes
the validator after its commit. So what a slow reader stores after that is never read. If a process
dies in between, the drain does it again; what the owner read may be unread for TTL_S.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import structlog
from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.keys import key
from infra.caching.questions import Question, Replies
from infra.caching.round_trips import run_together
from infra.caching.viewer_validators import VALIDATOR_BYTES, make_validator
from infra.moving import beginning_again
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.ids import PACKED_BYTES, PostId, unpack_ids

# The order of a PostId's fields.
UNREAD = """
SELECT last_second, last_author, last_sequence FROM conversations_conversation
WHERE owner_id = %s AND is_unread
ORDER BY last_second DESC, last_author DESC, last_sequence DESC LIMIT %s
"""
FAMILY = "posts.conversations.unread:v1"
TTL_S = 300
# No more of them are looked at: an account may leave ten thousand unread.
MOST = 100
log = structlog.get_logger()


def ask_unread(owner_id: int) -> Question[list[PostId]]:
    """As `read_unread`, the newest MOST. Cost: two commands; if Redis lacks them, one query and one
    round trip more."""
    own = key(FAMILY, owner_id)
    create = ("SET", own, make_validator(), "NX", "PX", TTL_S * 1000)
    commands = [create, ("MGET", own, _list_key(owner_id))]
    return Question(commands, partial(_complete, owner_id))


def end_unread(owner_ids: Iterable[int]) -> None:
    """Ends the lists of these owners. Call it after the commit. One round trip.

    Raises: RedisError, so that a consumer runs again.
    """
    run_together(_end_commands(owner_ids))


def end_unread_of(owner_id: int) -> None:
    """As `end_unread`, after a write that leaves no change. Without Redis: before its next use."""
    redis().send(_end, items=[owner_id])


def _end(owner_ids: Sequence[int]) -> None:
    redis().run(_end_commands(owner_ids))


def _end_commands(owner_ids: Iterable[int]) -> list[Command]:
    return [("DEL", key(FAMILY, owner_id)) for owner_id in owner_ids]


def _complete(owner_id: int, replies: Replies) -> list[PostId]:
    validator, kept = _find_valid(replies)
    if kept is not None:
        return kept
    read = read_unread(owner_id, MOST)
    if validator is not None:
        _keep(owner_id, validator, read)
    return read


def _find_valid(replies: Replies) -> tuple[bytes | None, list[PostId] | None]:
    """The owner's validator, and the list if it is valid. Without Redis: none."""
    if not replies:
        return None, None
    validator, entry = replies[1]
    is_valid = validator is not None and entry is not None and entry.startswith(validator)
    if not is_valid or (len(entry) - VALIDATOR_BYTES) % PACKED_BYTES:
        return validator, None
    return validator, unpack_ids(entry[VALIDATOR_BYTES:])


def _keep(owner_id: int, validator: bytes, unread: Sequence[PostId]) -> None:
    entry = validator + b"".join(post_id.packed for post_id in unread)
    try:
        redis().call("SET", _list_key(owner_id), entry, "PX", TTL_S * 1000)
    except RedisError as error:
        log.warning("conversations.not_kept", error=str(error))


def _list_key(owner_id: int) -> bytes:
    return key(FAMILY, owner_id, "list")


@beginning_again
def read_unread(owner_id: int, limit: int) -> list[PostId]:
    """The latest posts of the unread conversations, the newest first. One query by index."""
    return [PostId(*row) for row in fetch_all(shard_of(owner_id), UNREAD, (owner_id, limit))]
