"""An account's policy and notifications, for operators."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from django.urls import reverse

from infra import clock
from infra.sharding.buckets import shard_of
from infra.sharding.probe import probe_all
from notifications.ids import MAX_ID
from notifications.queries.requests import read_policy
from notifications.queries.rows import IdRange, read_rows
from notifications.queries.viewed_notifications import view_notifications
from notifications.types import NotificationKind, NotificationRow, Policy, Selection, Verdict
from operations.types import Fact, Section

PAGE = 50
WORDS = {
    Verdict.SHOWN: "shown",
    Verdict.FILTERED: "filtered by the policy",
    Verdict.HIDDEN: "hidden by the rules",
}


class NotificationsPage(NamedTuple):
    """`older`: the id below which the next page begins; None on the last one."""

    sections: list[Section]
    older: int | None = None


class JudgedRows(NamedTuple):
    """Rows that the owner did not dismiss or clear, newest first, and what the lists do."""

    policy: Policy
    rows: list[NotificationRow]
    verdicts: dict[int, Verdict]


def read_notifications(account_id: int, below: int = MAX_ID) -> NotificationsPage:
    """A page of the notifications of an account, and its policy.

    Cost: two queries by index on the account's shard, and `view`.
    """
    alias = shard_of(account_id)
    answer = probe_all({alias: partial(_ask, account_id, below)})[alias]
    if answer.problem:
        return NotificationsPage([Section("Notifications", problem=answer.problem)])
    judged: JudgedRows = answer.value
    shown = judged.rows[:PAGE]
    facts = [_fact_of(row, judged.verdicts.get(row.id, Verdict.HIDDEN)) for row in shown]
    sections = [
        Section("Policy", [*_of_policy(judged.policy)]),
        Section("Notifications", facts or [Fact("None", "")]),
    ]
    return NotificationsPage(sections, shown[-1].id if len(judged.rows) > PAGE else None)


def _ask(account_id: int, below: int) -> JudgedRows:
    read = read_rows(account_id, Selection(), IdRange(below=below), PAGE + 1)
    viewed = view_notifications(account_id, read, clock.now_ms())
    verdicts = {notification.row.id: notification.verdict for notification in viewed}
    return JudgedRows(read_policy(account_id), read.rows, verdicts)


def _of_policy(policy: Policy) -> Iterator[Fact]:
    for name, measure in policy._asdict().items():
        yield Fact(name.replace("_", " "), measure.public)


def _fact_of(row: NotificationRow, verdict: Verdict) -> Fact:
    """Without the text of the post, which support does not need."""
    at = datetime.fromtimestamp(row.at_ms / 1000, UTC)
    what = f"{NotificationKind(row.kind).public} by account {row.from_id}"
    about, where = "", reverse("find_account", args=[row.from_id])
    if row.post_id is not None:
        about = f", post {row.post_id.public}"
        where = reverse("find_post", args=[row.post_id.public])
    return Fact(f"{at:%Y-%m-%d %H:%M:%S}", f"{what}{about}: {WORDS[verdict]}", where)
