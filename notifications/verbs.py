"""Commands that check, add and delete notifications."""

from collections.abc import Iterator
from typing import Any

from accounts.sql import ACCOUNTS
from infra import clock
from infra.jobs.audit import AuditCommand, Derived
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from notifications.jobs.audit_notifications import (
    BATCH_SIZE,
    backfill_notifications,
    judge_held,
    judge_owners,
)
from notifications.jobs.trim_notifications import BATCH_SIZE as TRIM_BATCH_SIZE
from notifications.jobs.trim_notifications import trim_notifications
from notifications.sql import HELD_NOTIFICATIONS, INBOXES


class AuditNotifications(AuditCommand):
    """Compares notifications with the edges, responses and posts that they are of.

    **When**: to find out whether notifications are right: after parked changes were discarded, a
    shard was restored, or with a new release. First it reads all notifications: does what they tell
    of still exist? Then it compares as `backfill notifications` does, and names the accounts that
    lack notifications of events that are more than a minute old. Each difference is a failed row,
    so the exit code is 1. `--repair` ends notifications of what was lost or has ended, deletes
    posts again that are back although their mentions have ended (`--restored-wins`: they stay), and
    adds what is missing. What a pending change explains is compared again, for two seconds.
    **Costs**: three queries per 100 notifications, and one on each shard of the posts; five queries
    per 100 accounts.

    ```
    $ manage.py audit notifications
    account 45: favourite for 17 was lost
    account 17: 2 missing
    4,210 rows done, 2 failed
    ```
    """

    name = "audit notifications"
    batch_size = BATCH_SIZE
    has_restored_wins = has_total = True
    passes = Derived(HELD_NOTIFICATIONS, judge_held), Derived(ACCOUNTS, judge_owners)


class BackfillNotifications(JobCommand):
    """Adds the notifications that accounts lack of their newest followers and responses.

    **When**: after `audit notifications` found accounts that lack some. For each account it looks
    at the newest 400 followers, requests to follow and responses, and adds the notifications that
    are missing, at the places of their time in the list. It does not bring back what was cleared or
    dismissed, what is older than `NOTIFICATION_DAYS`, and what was left out because an hour had too
    many. It also leaves out responses in a thread that the account mutes, and those from before it
    ended such a mute. Mentions that are no replies, new posts and ends of polls come from the
    change table only ([`changes replay`](changes.md#changes-replay)). **Costs**: five queries per
    100 accounts, and a transaction where something is missing.

    ```
    $ manage.py backfill notifications --dry-run
    3,959 accounts looked at, 11,204 would change, 0 failed
    ```
    """

    name = "backfill notifications"
    unit = "accounts"
    flags = WALK
    batch_size = BATCH_SIZE
    total_of = (ACCOUNTS,)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_notifications(work, clock.now_ms())


class TrimNotifications(JobCommand):
    """Deletes notifications that are old, or beyond the number that an owner keeps.

    **When**: never by hand; the compensator runs it in [time slices](../periodic-tasks.md). It
    deletes notifications that are older than `NOTIFICATION_DAYS`, and all but the newest 10,000 of
    an account. **Costs**: one transaction of two statements per 100 accounts with notifications.

    ```
    $ manage.py purge old-notifications --dry-run
    3,201 inboxes looked at, 817 would change, 0 failed
    ```
    """

    name = "purge old-notifications"
    unit = "inboxes"
    flags = WALK
    batch_size = TRIM_BATCH_SIZE
    total_of = (INBOXES,)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return trim_notifications(work, clock.now_ms())
