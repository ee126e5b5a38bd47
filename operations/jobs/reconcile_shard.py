"""Brings a shard that was restored to an earlier moment back into agreement with the others.

    flush       Redis and stored timelines: they have later data than the shard
    drain       what was not delivered at the moment of the backup
    deletions   posts that are back: deleted again, by the recent-posts indexes
    index       the recent-posts index of the shard is filled again
    replay      what the other databases delivered since then, for the restored shard
    accounts    accounts of users who signed up since then, and restrictions
    decisions   of moderators, on posts and images of the shard
    edges, responses, conversations, tags, recent posts, notifications
                both sides are compared and repaired; what was lost is named
    counts      equal their rows
    untraced    what left no trace on another database
    settled     the default database no longer says that the shard may have lost writes

Between them all changes are drained. Each step is idempotent, so a run that was killed is resumed.

Delivers all pending changes of all databases, together with the drainers that run.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import NamedTuple

from django.conf import settings

from accounts.verbs import AuditAccounts
from counters.jobs.drifting_counts import recount_counters
from infra.caching.purging import flush_redis
from infra.changes.compensate import compensate, dry_run_batch
from infra.changes.lag import LaneLag, list_lane_lags
from infra.changes.replay import ReplayFilter, replay
from infra.jobs.audit import AuditRun
from infra.jobs.by_database import Pass, in_turn
from infra.jobs.findings import Pause
from infra.jobs.types import Batch, Work
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.pulse import end_loss
from infra.sharding.shards import all_aliases, shard_aliases
from moderation.jobs.enforce_again import enforce_again
from notifications.verbs import AuditNotifications
from posts.conversations.verbs import AuditConversations
from posts.verbs import AuditResponses
from relations.verbs import AuditEdges
from timelines.jobs.end_lost_deletions import end_lost_deletions
from timelines.jobs.recent_index import backfill_recent_posts
from timelines.stores.weeks import forget_timelines
from timelines.verbs import AuditRecentPosts, AuditTags

# What another drainer holds, or what failed once, is delivered within this time.
MOST_WAITS = 120
WAIT_S = 0.5


def drain_everything(work: Work, pause: Pause) -> Iterator[Batch]:
    """Delivers changes until none is pending, for a minute at most.

    Each lane with changes that are left then is a failed row, and so are parked and paused ones:
    what they would change cannot be compared. `pause(seconds)` returns False when the run shall
    stop. Raises: errors of UNREACHABLE.
    """
    if work.dry_run:
        yield from (dry_run_batch(alias, None) for alias in all_aliases())
        return
    for _ in range(MOST_WAITS):
        yield from _drain_once()
        if not any(lag.pending for lag in _list_lags()) or not pause(WAIT_S):
            break
    for lag in _list_lags():
        if lag.pending or lag.parked or lag.paused:
            yield Batch(0, 1, lag.alias, details=[_describe(lag)])


def _drain_once() -> Iterator[Batch]:
    for alias in all_aliases():
        for report in compensate(alias):
            yield Batch(report.delivered, 0, alias)


def _list_lags() -> list[LaneLag]:
    return [lag for alias in all_aliases() for lag in list_lane_lags(alias)]


def _describe(lag: LaneLag) -> str:
    waiting = f"{lag.pending:,} changes pending, {lag.parked:,} parked, {lag.paused:,} paused"
    return f"{lag.alias} lane {lag.lane}: {waiting}; see changes lag"


# Of the default database. Mails are not sent again.
KINDS = (
    "accounts.user_created",
    "accounts.user_restricted",
    "moderation.post_decided",
    "moderation.image_decided",
    "moderation.strike_recorded",
)
UNTRACED = (
    "No other database knows of these. If {alias} lost some since {since}, they cannot be named:",
    "posts without answers that have left the indexes; texts of all lost posts; edits;",
    "deletions of direct posts; bookmarks, mutes, notes, lists, filters, profiles, pins, markers,",
    "images, followed tags; votes on polls of its accounts; all between two accounts of {alias}.",
)


class Restored(NamedTuple):
    """The shard, the moment of its backup or last pulse, and what wins where the sides differ.

    `noticed_at`: when the default database heard of the loss.
    """

    alias: str
    since: datetime
    restored_wins: bool
    noticed_at: datetime | None


def reconcile_shard(work: Work, restored: Restored, pause: Pause) -> Iterator[Batch]:
    """A batch per piece of each step. Its lines name the accounts that lost something, and what.

    Differences that could not be repaired are failed rows. Safety: idempotent, also during writes.
    Cost: the cost of all audits.
    """
    steps = {**_bring_up(restored, pause), **_compare(restored, pause)}
    return in_turn(
        work._replace(aliases=shard_aliases()),
        *(partial(_run_step, name, step) for name, step in steps.items()),
    )


def _run_step(name: str, step: Pass, work: Work) -> Iterator[Batch]:
    """A heading, then the batches of the step with the account at the beginning of each line."""
    if work.after is None:
        yield Batch(0, 0, name, details=[f"# {name}"])
    for batch in step(work):
        yield batch._replace(note=name, details=[*map(_by_account, batch.details)])


def _by_account(line: str) -> str:
    """A difference of an edge belongs to the account that follows or blocks."""
    words = line.split()
    return f"account {words[1]}: {line}" if words[:1] == ["edge"] else line


def _bring_up(restored: Restored, pause: Pause) -> dict[str, Pass]:
    """The steps that bring the restored shard up to what the other databases delivered to it."""
    since, wins = restored.since, restored.restored_wins

    def on_shard(job: Pass, work: Work) -> Iterator[Batch]:
        return job(work._replace(aliases=[restored.alias]))

    deletions = partial(end_lost_deletions, since=since, restored_wins=wins)
    return {
        "flush": _flush,
        "drain": partial(drain_everything, pause=pause),
        "deletions": partial(on_shard, deletions),
        "index": partial(on_shard, partial(backfill_recent_posts, again=True)),
        "replay": partial(_replay, restored),
        "accounts": partial(AuditAccounts.compare, run=AuditRun(pause, repair=True)),
        "decisions": partial(on_shard, enforce_again),
        "drain after replay": partial(drain_everything, pause=pause),
    }


def _compare(restored: Restored, pause: Pause) -> dict[str, Pass]:
    """The steps that compare what is derived with its sources, on all shards."""
    drain = partial(drain_everything, pause=pause)
    # All changes are drained, so what happened a moment ago must be there.
    run = AuditRun(pause, repair=True, restored_wins=restored.restored_wins, unsettled_ms=0)
    return {
        "counts": recount_counters,
        "edges": partial(AuditEdges.compare, run=run),
        "responses": partial(AuditResponses.compare, run=run),
        "conversations": partial(AuditConversations.compare, run=run),
        "tags": partial(AuditTags.compare, run=run),
        "recent posts": partial(AuditRecentPosts.compare, run=run),
        "drain after repairs": drain,
        "notifications": partial(AuditNotifications.compare, run=run),
        "last drain": drain,
        "counts of what was repaired": recount_counters,
        "untraced": partial(_name_untraced, restored),
        "settled": partial(settle, restored),
    }


def settle(restored: Restored, work: Work) -> Iterator[Batch]:
    """Ends the notice of a loss that this run covers."""
    if restored.noticed_at and not work.dry_run:
        end_loss(restored.alias, restored.noticed_at)
    yield Batch(1, 0)


def _flush(work: Work) -> Iterator[Batch]:
    if not work.dry_run:
        for alias in work.aliases:
            forget_timelines(alias)
        flush_redis()
    yield Batch(1, 0)


def _replay(restored: Restored, work: Work) -> Iterator[Batch]:
    """From the other shards all changes, from the default database those of KINDS."""
    now = datetime.now(UTC)
    yield from _say_what_is_gone(now - restored.since)
    others = [alias for alias in work.aliases if alias != restored.alias]
    parts: list[tuple[Sequence[str], str | None]] = [
        (others, None),
        *(([GLOBAL_ALIAS], kind) for kind in KINDS),
    ]
    yield from in_turn(
        work,
        *(
            partial(_replay_part, aliases, ReplayFilter(restored.since, now, kind))
            for aliases, kind in parts
        ),
    )


def _say_what_is_gone(age: timedelta) -> Iterator[Batch]:
    if age > timedelta(days=settings.CHANGE_REPLAY_DAYS):
        line = "the first changes since then are gone: some notifications of others are missing"
        yield Batch(0, 0, details=[line])


def _replay_part(aliases: Sequence[str], selected: ReplayFilter, work: Work) -> Iterator[Batch]:
    return replay(work._replace(aliases=aliases), selected)


def _name_untraced(restored: Restored, work: Work) -> Iterator[Batch]:
    facts = {"alias": restored.alias, "since": f"{restored.since:%Y-%m-%d %H:%M:%S} UTC"}
    yield Batch(1, 0, details=[line.format(**facts) for line in UNTRACED])
