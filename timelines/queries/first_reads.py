"""The first round trip of a home page: the log, the viewer's validators, and the live timeline."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from redis.exceptions import RedisError

from infra.caching.client import Command, redis
from infra.caching.invalidation_log import LOG, LogOffset, LogRead
from infra.caching.replies import split_replies
from infra.caching.viewer_validators import NO_VALIDATORS, read_validators, validator_commands
from posts.cache.viewer_state import (
    ViewerState,
    ViewerStateRead,
    complete_viewer_state,
    plan_viewer_state,
)
from relations.queries.following import (
    FollowingVersionRead,
    complete_following_version,
    plan_following_version,
)
from timelines.hot.directory import directory
from timelines.hot.entries import hot_entries, read_commands
from timelines.hot.queries.hot_followees import guess_hot_followees
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline


class FirstReplies(NamedTuple):
    """Results of the first round trip of a page.

    `live`: None also when it reflects another version of the reader's following list.
    `log_offset`: end of the invalidation log; None without Redis, or when entries were missing.
    `validator`: of the reader's relationships; None without Redis, or when nothing is known.
    `hot`: the set of hot authors, encoded, if this process had no copy.
    """

    live: LiveTimeline | None
    log_offset: LogOffset | None
    validator: bytes | None
    viewer_state: ViewerState
    hot: Sequence[bytes | None] = ()
    has_redis: bool = True


class FirstReads(NamedTuple):
    """What a page reads in its first round trip. `ahead`: hot authors whose entries are old."""

    reader_id: int
    log: LogRead
    ahead: Sequence[int]
    version: FollowingVersionRead
    state: ViewerStateRead

    @classmethod
    def plan(cls, reader_id: int, since_s: float = 0.0) -> Self:
        ahead = hot_entries.list_stale(guess_hot_followees(reader_id), since_s)
        version, state = plan_following_version(reader_id), plan_viewer_state(reader_id)
        return cls(reader_id, LOG.plan_read(), ahead, version, state)

    def parts(self) -> list[Sequence[Command]]:
        """The log and the validators come before the values that are kept under them."""
        reader_id, create = self.reader_id, [*self.version.create, *self.state.create]
        return [
            [self.log.command()],
            validator_commands(reader_id, create),
            self.version.commands(),
            self.state.commands(),
            directory.read_commands(),
            read_commands(self.ahead),
            timeline_store().read_commands(reader_id),
        ]

    def complete(self, replies: Sequence[Sequence[Any]], asked_at: float) -> FirstReplies:
        (log,), validators, version, state, hot, ahead, stored = replies
        offset, valid = LOG.apply(self.log, log), read_validators(validators)
        hot_entries.store_replies(self.ahead, ahead, asked_at)
        live = timeline_store().load(self.reader_id, stored)
        if live is not None and not self._is_current(live, valid.following, version):
            live = None
        viewer_state = complete_viewer_state(self.state, valid, state)
        return FirstReplies(live, offset, valid.relationships, viewer_state, hot)

    def complete_without_redis(self) -> FirstReplies:
        live = timeline_store().load(self.reader_id, ())
        if live is not None and not self._is_current(live, None, ()):
            live = None
        viewer_state = complete_viewer_state(self.state, NO_VALIDATORS, ())
        return FirstReplies(live, None, None, viewer_state, has_redis=False)

    def _is_current(
        self, live: LiveTimeline, validator: bytes | None, replies: Sequence[Any]
    ) -> bool:
        """Whether the stored timeline reflects the reader's following list."""
        version = complete_following_version(self.version, validator, replies)
        return live.following_version == version


def load_first_replies(reader_id: int, since_s: float = 0.0) -> FirstReplies:
    """`since_s`: copies of hot authors' entries from before this moment are read again.

    Cost: one round trip; another one after a change of the reader's; two more queries and trips
    when the cached following list expired."""
    plan = FirstReads.plan(reader_id, since_s)
    asked_at, parts = time.monotonic(), plan.parts()
    try:
        replies = redis().run([command for part in parts for command in part])
    except RedisError:
        return plan.complete_without_redis()
    return plan.complete(split_replies(replies, parts), asked_at)
