"""The recent-posts index on each shard: a row for each post of everybody, and one query a pull."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

import structlog
from django.db import InterfaceError, OperationalError

from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from infra.sharding.shards import shard_aliases
from infra.telemetry.reached_branches import reached
from posts.ids import PostId
from timelines.polling.types import LatePosts
from timelines.recent.actions.index_posts import backfill_recent, index_recent, remove_recent
from timelines.recent.actions.settle_posts import settle_everywhere, settle_recent
from timelines.recent.by_author import ByAuthorIndex
from timelines.recent.interface import RecentEntries
from timelines.recent.packs import drop_packs
from timelines.recent.queries.late_rows import MARGIN_MS, PolledAuthors, read_late_posts
from timelines.recent.queries.newest_posts import Wanted, read_any_shard
from timelines.recent.queries.recent_posts import list_indexed, load_recent
from timelines.types import Entry, TimelineAuthors, TimeRange

log = structlog.get_logger()


class ReplicatedIndex:
    """RecentIndex on all shards. Cost: one statement a shard for a write, one query for a read.

    It deletes the authors' packs, which a process of `by_author` may have loaded: no setting of
    another process makes an answer wrong.
    """

    def add(self, entries: Sequence[Entry], shards: Iterable[str]) -> Mapping[str, int | None]:
        added = scatter({shard: partial(_try_to_index, shard, entries) for shard in shards})
        drop_packs({entry.event.author_id for entry in entries})
        return added

    def add_for(self, shard: str, entries: Sequence[Entry]) -> int:
        added = index_recent(shard, entries)
        drop_packs({entry.event.author_id for entry in entries})
        return added

    def add_old(self, entries: Sequence[Entry]) -> None:
        scatter({shard: partial(backfill_recent, shard, entries) for shard in shard_aliases()})
        drop_packs({entry.event.author_id for entry in entries})

    def settle(self, shards: Iterable[str], events: Sequence[PostId]) -> Sequence[str]:
        late = list(shards)
        if not late:
            return ()
        unsettled = settle_everywhere(late, events)
        drop_packs({event.author_id for event in events})
        return unsettled

    def settle_for(self, shard: str, events: Sequence[PostId]) -> None:
        settle_recent(shard, events)
        drop_packs({event.author_id for event in events})

    def remove(self, events: Collection[PostId]) -> None:
        remove_everywhere(events)

    def load(
        self,
        authors: TimelineAuthors,
        time_range: TimeRange,
        limit: int,
        newest_first: bool,
    ) -> RecentEntries:
        return load_recent(authors, time_range, limit, newest_first)

    def list_arrived(self, reader_id: int, entries: Sequence[Entry]) -> list[Entry]:
        return list_indexed(reader_id, entries)

    def load_of_all(self, wanted: Wanted) -> dict[PostId, int]:
        return read_any_shard(wanted)

    def load_late(self, authors: PolledAuthors, cursor: PostId, floor: int | None) -> LatePosts:
        """From the reader's shard. While workers of `by_author` write, their way."""
        late = read_late_posts(shard_of(authors.reader_id), authors, cursor, floor)
        if late.has_own_only:
            return ByAuthorIndex().load_late(authors, cursor, floor)
        return LatePosts(late.posts, late.floor, late.now_ms - MARGIN_MS)


def remove_everywhere(events: Collection[PostId]) -> None:
    """Removes posts from all shards that answer, and the packs of their authors. One statement a
    shard, in parallel, and one round trip."""
    scatter({shard: partial(_remove, shard, events) for shard in shard_aliases()})
    drop_packs({event.author_id for event in events})


def _try_to_index(shard: str, entries: Sequence[Entry]) -> int | None:
    """None: the shard does not answer."""
    try:
        return index_recent(shard, entries)
    except (OperationalError, InterfaceError) as error:
        reached("fan_out.shard_missed")
        log.warning("fan_out.shard_missed", shard=shard, error=str(error))
        return None


def _remove(shard: str, deleted: Collection[PostId]) -> None:
    try:
        remove_recent(shard, deleted)
    except (OperationalError, InterfaceError) as error:
        log.warning("recent_posts.not_removed", shard=shard, error=str(error))
