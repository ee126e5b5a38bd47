"""The recent-posts index (seed S0's post_rep), hot authors, timelines as rows, stores chosen."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from infra.changes.models import LocalQuerySet
from infra.sharding.models import ShardedModel
from infra.sharding.placement import Placement


class ReplicatedModel(models.Model):
    """REPLICATED: every shard has the rows of all owners; a query says which shard it asks."""

    placement: ClassVar[Placement] = Placement.REPLICATED

    objects: ClassVar[Any] = LocalQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"


class RecentPost(ReplicatedModel):
    """REPLICATED, all posts of RECENT_DAYS; written by timelines.recent, one partition a day.

    Derived from the posts tables: a deleted post's row may stay until its day goes, so whoever
    reads it here looks whether it exists. `shown_author`, `shown_moment`: of a repost, else null.

    The key, (author_id, moment) with what is shown beside it, serves the pull, index-only: inside
    a day an author's posts are neighbours. A BRIN on the second (moment / 1296) serves the newest
    of all authors; on the moment the planner took it for pulls, and read what everybody posted.
    """

    pk = models.CompositePrimaryKey("author_id", "moment")
    author_id = models.BigIntegerField()
    moment = models.BigIntegerField()
    shown_author = models.BigIntegerField(null=True)
    shown_moment = models.BigIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "timelines_recentpost"

    def __str__(self) -> str:
        return f"{self.author_id}/{self.moment}"


class RecentReach(ReplicatedModel):
    """REPLICATED, one row or none: from which second on this shard's index is complete.

    Written by backfill_recent_posts and by the chore that drops old days. Without the row nobody
    reads the index.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    complete_from = models.BigIntegerField()

    def __str__(self) -> str:
        return f"from second {self.complete_from}"


class HotAuthor(ShardedModel):
    """SHARDED by author_id, a row for each of very few; written by timelines.hot.

    Who has no row is pushed for (timelines/hot/queries/hot_authors.py).
    """

    owner = "author_id"

    author_id = models.BigIntegerField(primary_key=True)
    is_cooling = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.author_id}{' cooling' if self.is_cooling else ''}"


class TimelineHead(ShardedModel):
    """SHARDED by reader_id, a row per live reader of the stores `postgres` and `tiered`.

    Written by timelines.stores.postgres. `complete_from` null: being built. `epoch`: of the build,
    64 bits. `read_at`: noted once a day. Which are dead is asked by `read_at`.
    """

    owner = "reader_id"

    reader_id = models.BigIntegerField(primary_key=True)
    complete_from = models.BigIntegerField(null=True)
    following_version = models.BigIntegerField()
    epoch = models.BigIntegerField()
    read_at = models.DateTimeField()

    class Meta:
        db_table = "timelines_head"
        # bury_dead: those nobody read for longest
        indexes: ClassVar = [models.Index(fields=["read_at"], name="timelines_head_read")]

    def __str__(self) -> str:
        return f"{self.reader_id} from {self.complete_from}"


class TimelineEntry(ShardedModel):
    """SHARDED by reader_id, some hundreds a live reader; one partition a week, dropped when old.

    Written by timelines.stores.postgres. `shown_author`, `shown_moment`: of a repost, else null.
    The key serves a page, index-only: a reader's entries in page order.
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


class StoreChoice(models.Model):
    """GLOBAL, a row for each time another store was chosen; written by timelines.stores.generation.

    The last row says which; its id is the number of the period.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    id = models.AutoField(primary_key=True)
    store = models.CharField(max_length=16)
    chosen_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.store} since {self.chosen_at}"
