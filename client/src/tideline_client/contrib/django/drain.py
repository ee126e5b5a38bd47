"""Sends to Tideline what `outbox` wrote down: any number of times, with one result.

| killed | left | repaired by |
|---|---|---|
| before the user's transaction commits | neither user nor row | |
| after it, before a run takes the row | a row that is due | the next run |
| after a run took it, or sent it | a row that is due in `TAKEN_S` | the next run sends it again |

Provisioning at Tideline is idempotent: an account that is sent twice is one account. What is sent
is what the user is at that moment, so the order of two changes does not matter. A deletion is a
row, too, in the transaction that deletes the user.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple, cast
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS
from django.utils.timezone import now

from tideline_client import InvalidRequest, NotAllowed, NotFound, Tideline
from tideline_client.contrib.django.models import AccountSync
from tideline_client.contrib.django.profiles import NEUTRAL, other_username
from tideline_client.contrib.django.settings import read_settings
from tideline_client.models import WantedAccountField

BATCH = 100
# Tideline may need 10 s for a list of new accounts.
SEND_MS = 30_000
# Longer than a run needs for a batch: two runs seldom send the same row.
TAKEN_S = 60
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5, 3600
Profile = dict[str, Any]
# Of a user who is deactivated in the product, or shall have no account any more.
INACTIVE: Profile = {"active": False}
log = logging.getLogger(__name__)


class Drained(NamedTuple):
    """What one batch did: how many rows Tideline has now, and how many it refused."""

    sent: int
    refused: int


def drain_batch(tideline: Tideline, using: str = DEFAULT_DB_ALIAS) -> Drained | None:
    """Sends up to 100 rows that are due. None: none is.

    Raises: TidelineError, if Tideline is away or refuses the token; the rows are due in a moment.
    """
    rows = _take(using)
    if not rows:
        return None
    try:
        patient = tideline.with_patience(deadline_ms=SEND_MS, retries=0)
        outcomes = _carry_out(patient, rows, using)
    except BaseException:
        _give_back(rows, using)
        raise
    for row in rows:
        _mark(row, outcomes[row.external_id], using)
    refused = sum(1 for outcome in outcomes.values() if outcome.error)
    return Drained(len(rows) - refused, refused)


class Outcome(NamedTuple):
    """What became of a row. `error`: why Tideline has not got it; "": there is nothing to do."""

    account_id: str = ""
    error: str = ""


NOTHING_TO_SEND = Outcome()
RESERVED = "ERR_RESERVED"
UNANSWERED = Outcome(error="Tideline said nothing of this user")


def _take(using: str) -> list[AccountSync]:
    """Rows that no other run has. One statement marks them, on any database."""
    rows = AccountSync.objects.using(using)
    due = rows.filter(due_at__lte=now()).order_by("due_at")
    ids = [*due.values_list("external_id", flat=True)[:BATCH]]
    run, until = uuid4().hex, now() + timedelta(seconds=TAKEN_S)
    rows.filter(external_id__in=ids, due_at__lte=now()).update(taken_by=run, due_at=until)
    return [*rows.filter(taken_by=run)]


def _carry_out(tideline: Tideline, rows: Sequence[AccountSync], using: str) -> dict[str, Outcome]:
    """An outcome for each row. Users that shall have no account, and have none, are not sent.

    Raises: TidelineError.
    """
    outcomes: dict[str, Outcome] = {row.external_id: NOTHING_TO_SEND for row in rows}
    for row in rows:
        if row.is_deleted:
            outcomes[row.external_id] = _delete(tideline, row.external_id)
    wanted: dict[str, Profile] = {}
    for row, user in _users_of(rows, using):
        try:
            profile = read_settings().profile_of(user)
        except Exception as error:  # one user must not stop the others
            log.exception("TIDELINE['PROFILE'] failed for user %s", row.external_id)
            outcomes[row.external_id] = Outcome(error=f"TIDELINE['PROFILE']: {error!r}")
            continue
        if profile is not None or row.account_id:
            is_active = getattr(user, "is_active", True)
            wanted[row.external_id] = _sendable({"active": is_active, **(profile or INACTIVE)})
            outcomes[row.external_id] = UNANSWERED
    return outcomes | _send(tideline, wanted) if wanted else outcomes


def _users_of(rows: Sequence[AccountSync], using: str) -> list[tuple[AccountSync, Any]]:
    key = get_user_model()._meta.pk
    by_key = {key.to_python(row.external_id): row for row in rows if not row.is_deleted}
    users = get_user_model()._default_manager.using(using).filter(pk__in=by_key)
    return [(by_key[user.pk], user) for user in users]


def _sendable(profile: Mapping[str, Any]) -> Profile:
    """Texts, also of translations, and flags. Nothing else is said of a user who is not active.

    Without a username a new account is refused, and gets a drawn one; another one keeps its own.
    """
    if not profile["active"]:
        return {**INACTIVE}
    return {
        name: value if isinstance(value, bool) else str(value)
        for name, value in profile.items()
        if value is not None and not (name == "username" and not value)
    }


def _send(tideline: Tideline, wanted: Mapping[str, Profile]) -> dict[str, Outcome]:
    """Raises: TidelineError."""
    accounts = [{"external_id": each, **profile} for each, profile in wanted.items()]
    try:
        answers = tideline.provisioning.put_many(cast(list[WantedAccountField], accounts))
    except InvalidRequest:
        # One of them spoils the list.
        return {each: _send_alone(tideline, each, profile) for each, profile in wanted.items()}
    outcomes = {}
    for answer in answers:
        if answer.status == 422 and "username" in (answer.details or {}):
            profile = wanted[answer.external_id]
            outcomes[answer.external_id] = _send_otherwise(
                tideline, answer.external_id, profile, answer.details or {}
            )
        elif answer.status == 404:  # not active, and never created
            outcomes[answer.external_id] = NOTHING_TO_SEND
        else:
            outcomes[answer.external_id] = Outcome(answer.account_id or "", answer.error or "")
    return outcomes


def _send_alone(tideline: Tideline, external_id: str, profile: Profile) -> Outcome:
    """Raises: TidelineError, if Tideline is away."""
    try:
        return Outcome(tideline.provisioning.put(external_id, **profile).account_id)
    except InvalidRequest as error:
        if "username" in error.details:
            return _send_otherwise(tideline, external_id, profile, error.details)
        return Outcome(error=str(error))
    except NotFound:
        return NOTHING_TO_SEND
    except NotAllowed as error:
        return Outcome(error=str(error))


def _delete(tideline: Tideline, external_id: str) -> Outcome:
    """Raises: TidelineError, if Tideline is away."""
    try:
        return Outcome(tideline.provisioning.delete(external_id).account_id)
    except NotFound:
        return NOTHING_TO_SEND
    except (InvalidRequest, NotAllowed) as error:
        return Outcome(error=str(error))


def _send_otherwise(
    tideline: Tideline, external_id: str, profile: Profile, details: Mapping[str, Any]
) -> Outcome:
    """The username belongs to another account, or only to staff: this one keeps the name that it
    has, or gets another one. `details`: of the refusal.

    Raises: TidelineError, if Tideline is away.
    """
    try:
        tideline.provisioning.get(external_id)
        changed = {name: value for name, value in profile.items() if name != "username"}
    except NotFound:
        is_of_staff = any(fault.get("error") == RESERVED for fault in details["username"])
        name = NEUTRAL if is_of_staff else profile.get("username", NEUTRAL)
        changed = {**profile, "username": other_username(str(name))}
    try:
        return Outcome(tideline.provisioning.put(external_id, **changed).account_id)
    except (InvalidRequest, NotAllowed) as error:
        return Outcome(error=str(error))


def _mark(row: AccountSync, outcome: Outcome, using: str) -> None:
    """A row that changed while it was sent keeps its time, and only learns its account."""
    rows = AccountSync.objects.using(using).filter(external_id=row.external_id)
    if outcome.account_id:
        rows.update(account_id=outcome.account_id)
    same = rows.filter(change=row.change, taken_by=row.taken_by)
    if not outcome.error:
        same.update(due_at=None, taken_by="", failures=0, error="")
        return
    log.warning("Tideline refused user %s: %s", row.external_id, outcome.error)
    pause = min(FIRST_PAUSE_S * 2 ** min(row.failures, 20), LONGEST_PAUSE_S)
    due_at = now() + timedelta(seconds=pause)
    same.update(due_at=due_at, taken_by="", failures=row.failures + 1, error=outcome.error)


def _give_back(rows: Sequence[AccountSync], using: str) -> None:
    taken = AccountSync.objects.using(using).filter(taken_by=rows[0].taken_by)
    taken.update(due_at=now() + timedelta(seconds=FIRST_PAUSE_S), taken_by="")
