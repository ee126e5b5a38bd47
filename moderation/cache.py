"""Which moderator has a report open, so that two moderators are not led to the same report.

    moderation.readers:v1:{report}   the id of the user who opened the report first

It is a hint and no lock: it expires by itself, and keeps no moderator from a decision. Without
Redis there is none.
"""

from collections.abc import Sequence

from redis.exceptions import RedisError

from infra.caching.client import redis
from infra.caching.keys import key

FAMILY = "moderation.readers:v1"
OPEN_S = 300


def note_reader(report_id: int, user_id: int) -> int:
    """The user who has the report open: this one, unless another opened it in the last OPEN_S.

    One round trip.
    """
    where = key(FAMILY, report_id)
    try:
        replies = redis().run([("SET", where, user_id, "NX", "EX", OPEN_S), ("GET", where)])
    except RedisError:
        return user_id
    return int(replies[1] or user_id)


def load_readers(report_ids: Sequence[int]) -> dict[int, int]:
    """By report, the user who has it open; without those that are not open. One round trip."""
    try:
        replies = redis().run([("GET", key(FAMILY, report_id)) for report_id in report_ids])
    except RedisError:
        return {}
    pairs = zip(report_ids, replies, strict=True)
    return {report_id: int(user_id) for report_id, user_id in pairs if user_id}
