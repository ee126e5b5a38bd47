"""Rows of posts that were deleted long ago go by themselves, a little at a time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from infra.changes.chores import chore
from infra.jobs.time_slices import EVERY_S, SlicedJob, run_time_slice
from infra.jobs.types import BATCH_SIZE, Batch, Work
from posts.jobs.purge_deleted_posts import KEPT_DAYS, purge_deleted_posts


@chore(every_s=EVERY_S)
def purge_deleted_posts_in_turns(alias: str) -> None:
    """What `purge_deleted_posts` does. Cost: `take_turn`."""
    run_time_slice(ROUNDS, alias, datetime.now(UTC))


def _purge(work: Work) -> Iterator[Batch]:
    return purge_deleted_posts(work, datetime.now(UTC) - timedelta(days=KEPT_DAYS))


# Some that are found have to stay, so there is an end only once all were looked at.
ROUNDS = SlicedJob("purge_deleted_posts", _purge, BATCH_SIZE)
