"""An account on the default database and on its shard, for operators."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.urls import reverse

from accounts.models import Account, User
from accounts.types import Restriction
from counters.kinds import CounterKind
from counters.queries.counts import read_counts
from infra.changes.parking import ChangeSelection, list_parked
from infra.sharding.buckets import bucket_of, shard_of
from infra.sharding.probe import probe_all
from moderation.models import Decision
from notifications.ids import IDS_A_MS, TICKS_A_MS
from notifications.queries.inbox_summary import InboxSummary, read_inbox_summary
from operations.types import Fact, Section

MAX_DECISIONS = 10
MAX_PARKED = 10


def read_account_sections(user: User) -> list[Section]:
    """The user, the shard's row, its counts and parked changes, and moderators' decisions.

    Cost: one query on the default database, four on the account's shard.
    """
    alias = shard_of(user.pk)
    calls = {alias: partial(_ask_shard, alias, user.pk)}
    answer = probe_all(calls)[alias]
    if answer.problem:
        shard = [Section(f"On {alias}", problem=answer.problem)]
    else:
        shard = [*_of_shard(user, alias, *answer.value)]
    return [_of_user(user), *shard, _of_moderation(user.pk)]


def _ask_shard(alias: str, account_id: int) -> tuple[Any, ...]:
    row = Account.objects.on(alias).filter(id=account_id).first()
    counts = read_counts(alias, [account_id], [*CounterKind])[account_id]
    parked = list_parked(alias, limit=MAX_PARKED, selection=ChangeSelection(owner_id=account_id))
    return row, counts, parked, read_inbox_summary(alias, account_id)


def _of_user(user: User) -> Section:
    facts = [
        Fact("Id", user.pk),
        Fact("Name", f"@{user.username}"),
        Fact("Signed up", user.date_joined),
        Fact("May sign in", user.is_active),
        Fact("Staff", "superuser" if user.is_superuser else user.is_staff),
        Fact("Restrictions", _restrictions(user)),
        Fact("Suspended", user.suspended_at or "no"),
    ]
    return Section("On the default database", facts)


def _of_shard(
    user: User, alias: str, row: Account | None, counts: Any, parked: Any, inbox: InboxSummary
) -> Iterator[Section]:
    title = f"On {alias}, bucket {bucket_of(user.pk)}"
    if row is None:
        yield Section(title, problem="No row yet: a change may be pending or parked on default.")
    else:
        yield Section(title, [*_of_row(user, row)])
    shown = [
        Fact(kind.name.lower().replace("_", " "), counts[kind].value) for kind in ACCOUNT_KINDS
    ]
    yield Section("Counts on the shard", shown)
    yield Section("Notifications", [*_of_inbox(inbox)])
    where = f"{reverse('parked_changes')}?shard={alias}&owner={user.pk}"
    changes = [Fact(f"#{change.id}", str(change), where) for change in parked]
    yield Section("Parked changes", changes or [Fact("None", "")])


def _of_inbox(inbox: InboxSummary) -> Iterator[Fact]:
    yield Fact("The newest arrived", _time_of(inbox.newest_tick // TICKS_A_MS))
    yield Fact("Cleared up to", _time_of(inbox.cleared_id // IDS_A_MS))
    yield Fact("Deleted up to", _time_of(inbox.floor_ms))
    yield Fact("Left out up to, because of a crowd", _time_of(inbox.crowd_floor_ms))


def _time_of(at_ms: int) -> object:
    return datetime.fromtimestamp(at_ms / 1000, UTC) if at_ms else "never"


ACCOUNT_KINDS = [kind for kind in CounterKind if kind <= CounterKind.VIEWER_MARKS]


def _of_row(user: User, row: Account) -> Iterator[Fact]:
    yield Fact("Display name", row.display_name)
    yield Fact("Note", row.note)
    yield Fact("Locked", row.is_locked)
    yield Fact("Bot", row.is_bot)
    if row.service_object is not None:
        yield Fact("Object of a service", "{kind} {external_id}".format(**row.service_object))
    yield Fact("Version", row.version)
    yield Fact("Restrictions", _restrictions(row))
    if row.restriction_revision != user.restriction_revision:
        yield Fact("Behind", "The shard lacks the user's newest restrictions: a change is pending")


def _restrictions(row: User | Account) -> str:
    return f"{Restriction(row.restrictions).words} (revision {row.restriction_revision})"


def _of_moderation(account_id: int) -> Section:
    decisions = Decision.objects.filter(account_id=account_id).order_by("-id")[:MAX_DECISIONS]
    facts = [fact_of_decision(decision) for decision in decisions]
    return Section(f"The last {MAX_DECISIONS} decisions of moderators", facts or [Fact("None", "")])


def fact_of_decision(decision: Decision) -> Fact:
    where = reverse("admin:moderation_decision_change", args=[decision.pk])
    return Fact(f"{decision.created_at:%Y-%m-%d %H:%M}", f"{decision}: {decision.reason}", where)
