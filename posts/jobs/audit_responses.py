"""Compares responses with the posts and favourites that they are derived from, both ways."""

from collections.abc import Iterator
from functools import partial

from infra.jobs.findings import Pause
from infra.jobs.several_passes import in_turn
from infra.jobs.types import Batch, Work
from infra.jobs.walk import estimate_rows
from posts.jobs.audit_recorded import audit_recorded
from posts.jobs.audit_responding import (
    audit_favourites,
    audit_quoting_posts,
    audit_responding_posts,
)
from posts.sql import FAVOURITES, QUOTING_POSTS, RESPONDING_POSTS, RESPONSES


def audit_responses(
    work: Work, repair: bool, pause: Pause, restored_wins: bool = False
) -> Iterator[Batch]:
    """A batch per piece of each table; differences that are not repaired are its failed rows.

    Responses come first: they show which posts and favourites a restored shard lacks, or has again.
    `restored_wins`: lost favourites and deletions are undone on the side of the response too.
    `pause(seconds)` waits for pending changes; it returns False when the run shall stop.
    """
    recorded = partial(audit_recorded, restored_wins=restored_wins)
    passes = (recorded, audit_responding_posts, audit_favourites, audit_quoting_posts)
    return in_turn(work, *(partial(audit, repair=repair, pause=pause) for audit in passes))


def estimate_response_audit(work: Work) -> int | None:
    """About how many rows there are to compare."""
    tables = (RESPONSES, RESPONDING_POSTS, FAVOURITES, QUOTING_POSTS)
    estimates = [estimate_rows(work, table) for table in tables]
    return None if None in estimates else sum(filter(None, estimates))
