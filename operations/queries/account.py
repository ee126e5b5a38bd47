"""An account as the default database and its shard have it, for people to look at."""

from collections.abc import Iterator
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
from operations.types import Fact, Section

MOST_ACTS = 10
MOST_PARKED = 10


def read_account(user: User) -> list[Section]:
    """The user, the row on the shard, its counts, its parked changes, and what moderators did.

    Cost: one query on the default database; three on the account's shard alone.
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
    parked = list_parked(alias, limit=MOST_PARKED, choice=ChangeSelection(owner_id=account_id))
    return row, counts, parked


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
    user: User, alias: str, row: Account | None, counts: Any, parked: Any
) -> Iterator[Section]:
    title = f"On {alias}, bucket {bucket_of(user.pk)}"
    if row is None:
        yield Section(title, problem="Not laid yet: a change may be pending or parked on default.")
    else:
        yield Section(title, [*_of_row(user, row)])
    shown = [Fact(kind.name.lower().replace("_", " "), counts[kind].value) for kind in ACCOUNT]
    yield Section("Counts, as the shard has them", shown)
    where = f"{reverse('parked_changes')}?shard={alias}&owner={user.pk}"
    changes = [Fact(f"#{one.id}", str(one), where) for one in parked]
    yield Section("Parked changes", changes or [Fact("None", "")])


ACCOUNT = [kind for kind in CounterKind if kind <= CounterKind.VIEWER_MARKS]


def _of_row(user: User, row: Account) -> Iterator[Fact]:
    yield Fact("Display name", row.display_name)
    yield Fact("Note", row.note)
    yield Fact("Locked", row.is_locked)
    yield Fact("Bot", row.is_bot)
    yield Fact("Version", row.version)
    yield Fact("Restrictions", _restrictions(row))
    if row.restriction_revision != user.restriction_revision:
        yield Fact("Behind", "The user's restrictions are news to the shard: a change is waiting")


def _restrictions(row: User | Account) -> str:
    names = Restriction(row.restrictions).name or "NONE"
    return f"{names.lower().replace('|', ', ')} (revision {row.restriction_revision})"


def _of_moderation(account_id: int) -> Section:
    acts = Decision.objects.filter(account_id=account_id).order_by("-id")[:MOST_ACTS]
    facts = [fact_of_act(act) for act in acts]
    return Section(f"The last acts of moderators, {MOST_ACTS} at most", facts or [Fact("None", "")])


def fact_of_act(act: Decision) -> Fact:
    where = reverse("admin:moderation_decision_change", args=[act.pk])
    return Fact(f"{act.created_at:%Y-%m-%d %H:%M}", f"{act}: {act.reason}", where)
