"""The rows of notifications that an owner's lists have read, in Redis, for up to five minutes.

    notifications.rows:v1:{owner}            random bytes: the validator
    notifications.rows:v1:{owner}:{digest}   the validator that the reader found, and what it read

An entry is valid while its validator is the owner's. Each write of an owner's notifications deletes
the validator after its commit. So what a slow reader stores after that is never read. If a process
dies in between, the drain does it again; what the owner dismissed may stay for TTL_S.
"""

from collections.abc import Iterable, Sequence

import msgspec
import structlog
from redis.exceptions import RedisError
from xxhash import xxh3_128_hexdigest

from infra.caching.client import Command, redis
from infra.caching.decoding import decode
from infra.caching.keys import key
from infra.caching.questions import Question, Replies, answer
from infra.caching.round_trips import run_together
from infra.caching.viewer_validators import VALIDATOR_BYTES, make_validator
from notifications.queries.rows import IdRange, ReadRows, read_rows, stored_kinds, with_undone
from notifications.types import Selection

FAMILY = "notifications.rows:v1"
TTL_S = 300
_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(ReadRows).decode
log = structlog.get_logger()


def load_rows(owner_id: int, selection: Selection, ids: IdRange, limit: int) -> ReadRows:
    """As `read_rows`, with those that were taken back.

    Cost: one round trip; if Redis lacks them, two queries and one more.
    """
    asked = (stored_kinds(selection.kinds), selection.from_id, ids, limit)
    name = key(FAMILY, owner_id, xxh3_128_hexdigest(repr(asked).encode()))
    validator, kept = answer(_ask(owner_id, name))
    if kept is not None:
        return kept
    read = with_undone(owner_id, read_rows(owner_id, selection, ids, limit))
    if validator is not None:
        _keep(name, validator, read)
    return read


def end_rows(owner_ids: Iterable[int]) -> None:
    """Ends what these owners' lists have read. Call it after the commit. One round trip.

    Raises: RedisError, so that a consumer runs again.
    """
    run_together(_end_commands(owner_ids))


def end_rows_of(*owner_ids: int) -> None:
    """As `end_rows`, after a write that leaves no change. Without Redis: before its next use."""
    redis().send(_end, items=owner_ids)


def _end(owner_ids: Sequence[int]) -> None:
    redis().run(_end_commands(owner_ids))


def _end_commands(owner_ids: Iterable[int]) -> list[Command]:
    return [("DEL", key(FAMILY, owner_id)) for owner_id in owner_ids]


def _ask(owner_id: int, name: bytes) -> Question[tuple[bytes | None, ReadRows | None]]:
    """The owner's validator, and the entry if it is valid. Without Redis: none."""
    own = key(FAMILY, owner_id)
    create = ("SET", own, make_validator(), "NX", "PX", TTL_S * 1000)
    return Question([create, ("MGET", own, name)], _find_valid)


def _find_valid(replies: Replies) -> tuple[bytes | None, ReadRows | None]:
    if not replies:
        return None, None
    validator, entry = replies[1]
    if validator is None or entry is None or entry[:VALIDATOR_BYTES] != validator:
        return validator, None
    return validator, decode(FAMILY, _decode, entry[VALIDATOR_BYTES:])


def _keep(name: bytes, validator: bytes, read: ReadRows) -> None:
    try:
        redis().call("SET", name, validator + _encode(read), "PX", TTL_S * 1000)
    except RedisError as error:
        log.warning("notifications.not_kept", error=str(error))
