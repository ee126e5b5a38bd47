"""Tables: the recent-posts index, hot authors, timelines as rows, store generations."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from infra.changes.models import LocalQuerySet
from infra.sharding.models import ShardedModel
from infra.sharding.placement import Placement


class ReplicatedModel(models.Model):
    """REPLICATED: every shard has the rows of all owners. A query names the shard that it reads."""

    placement: ClassVar[Placement] = Placement.REPLICATED

    objects: ClassVar[Any] = LocalQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"


class RecentPost(ReplicatedModel):
    """REPLICATED: the recent-posts index (seed S0's post_rep), all posts of RECENT_DAYS. With
    RECENT_INDEX=by_author each shard has those of its own accounts.

    Written by timelines.recent.actions. One partition a day. Derived from the posts
    tables: a deleted post's row may stay until its day is dropped, so readers of the index check
    that each post exists. `shown_author`, `shown_moment`: of a repost, else null.
    `arrival`: when the row was added, by this shard's clock in ms; a small number means long ago.
    `settled`: when the last reader had the post, by the same clock, if that was later than
    SETTLE_MS after `arrival`. Polls read both, and find rows that were late by a partial index
    (ADR 0034).

    The key (author_id, moment), which includes the shown post, serves the pull by an index-only
    scan: within a day an author's posts are neighbours. A BRIN index on the second (moment / 1296)
    serves the newest posts of all authors. It is not on the moment, because the planner then chose
    it for pulls and read the posts of all authors.
    """

    # Whose account a row moves with, if the index is by author.
    owner: ClassVar[str] = "author_id"

    pk = models.CompositePrimaryKey("author_id", "moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    shown_author = models.BigIntegerField(null=True)
    shown_moment = models.BigIntegerField(null=True)
    arrival = models.BigIntegerField()
    settled = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "timelines_recentpost"

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}"


class LowWaterMark(ReplicatedModel):
    """REPLICATED, at most one row: the second from which on this shard's index is complete. Its id
    says for which accounts.

    Written by timelines.recent.low_water_mark: backfill recent-posts sets it, and the periodic task
    that drops old days raises it. Without the row no process reads the index.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    complete_from = models.BigIntegerField()

    def __str__(self) -> str:
        return f"from second {self.complete_from}"


class HotAuthor(ShardedModel):
    """SHARDED by author_id, one row per hot author; there are very few. Written by
    timelines.hot.actions.

    New posts of an author without a row are pushed (timelines/hot/queries/hot_authors.py).
    """

    owner = "author_id"

    author_id = models.BigIntegerField(primary_key=True)
    is_cooling = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.author_id}{' cooling' if self.is_cooling else ''}"


class TimelineHead(ShardedModel):
    """SHARDED by reader_id, one row per live reader of the stores `postgres` and `tiered`.

    Written by timelines.stores.postgres. `complete_from`: the low-water mark; null during a build.
    `epoch`: of the build, 64 bits. `read_at`: updated once a day; decides when the timeline
    expires.
    """

    owner = "reader_id"

    reader_id = models.BigIntegerField(primary_key=True)
    complete_from = models.BigIntegerField(null=True)
    following_version = models.BigIntegerField()
    epoch = models.BigIntegerField()
    read_at = models.DateTimeField()

    class Meta:
        db_table = "timelines_head"
        # delete_expired: the timelines that were not read for longest
        indexes: ClassVar = [models.Index(fields=["read_at"], name="timelines_head_read")]

    def __str__(self) -> str:
        return f"{self.reader_id} from {self.complete_from}"


class TimelineEntry(ShardedModel):
    """SHARDED by reader_id, some hundreds per live reader; one partition a week, dropped when old.

    Written by timelines.stores.postgres. `shown_author`, `shown_moment`: of a repost, else null.
    The key serves a page by an index-only scan: a reader's entries in page order.
    """

    owner = "reader_id"

    pk = models.CompositePrimaryKey("reader_id", "second", "author_id", "sequence")
    reader_id = models.BigIntegerField()
    second = models.BigIntegerField()
    author_id = models.BigIntegerField()
    sequence = models.SmallIntegerField()
    shown_author = models.BigIntegerField(null=True)
    shown_moment = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "timelines_entry"

    def __str__(self) -> str:
        return f"{self.author_id} at {self.second} for {self.reader_id}"


class StoreGeneration(models.Model):
    """GLOBAL, one row each time that another store is chosen; written by
    timelines.stores.generation.

    The last row names the current store. Its id is the number of the generation.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    id = models.AutoField(primary_key=True)
    store = models.CharField(max_length=16)
    started_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.store} since {self.started_at}"
