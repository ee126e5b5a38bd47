"""Mute and unmute: one row on the owner's shard, which only the owner sees."""

from collections.abc import Callable

from django.db import transaction

from accounts.actions.lock_account import lock_account
from accounts.queries.load import require_account
from infra.changes.append import append_change, finish_interrupted
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from relations.changes import MuteChanged
from relations.errors import CannotMuteSelf, NothingToUndo
from relations.sql import KIND, MUTES_TABLE
from relations.types import NO_MUTE, Mute

LONGEST_MUTE_S = 100 * 366 * 86_400
READ = f"""
SELECT is_on, hides_notifications, revision, since_ms, until_ms FROM {MUTES_TABLE}
WHERE owner_id = %s AND kind = {KIND} AND target_id = %s
"""  # noqa: S608
WRITE = f"""
INSERT INTO {MUTES_TABLE}
    (owner_id, kind, target_id, is_on, hides_notifications, revision, since_ms, until_ms)
VALUES (%s, {KIND}, %s, %s, %s, %s, %s, %s)
ON CONFLICT (owner_id, kind, target_id) DO UPDATE SET
    is_on = excluded.is_on, hides_notifications = excluded.hides_notifications,
    revision = excluded.revision, since_ms = excluded.since_ms, until_ms = excluded.until_ms
"""  # noqa: S608


def mute(
    owner_id: int,
    target_id: int,
    duration_s: int = 0,
    hides_notifications: bool = True,
    clock_ms: Callable[[], int] = now_ms,
) -> Mute:
    """Hides target from owner, for `duration_s` seconds or, with 0, until unmuted.

    Muting again replaces the duration. Returns the mute before. Raises: CannotMuteSelf,
    AccountNotFound.
    Cost: four statements in one transaction on the owner's shard.
    """
    if owner_id == target_id:
        raise CannotMuteSelf
    require_account(target_id)
    moment_ms = clock_ms()
    until_ms = moment_ms + duration_s * 1000 if duration_s else 0
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        old = _read(alias, owner_id, target_id)
        since_ms = old.since_ms if old.holds_at(moment_ms) else moment_ms
        muted = Mute(True, hides_notifications, old.revision + 1, since_ms, until_ms)
        _write(alias, owner_id, target_id, muted)
    return old


def restore_mute(owner_id: int, target_id: int, before: Mute) -> None:
    """Brings back what was before the last mute. Raises: NothingToUndo, AccountNotFound for the
    owner. Safety: idempotent."""
    alias = shard_of(owner_id)
    restored = before._replace(revision=before.revision + 2)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        now = _read(alias, owner_id, target_id)
        if now == restored:
            finish_interrupted(alias, owner_id)
            return
        if now.revision != before.revision + 1:
            raise NothingToUndo
        _write(alias, owner_id, target_id, restored)


def unmute(owner_id: int, target_id: int) -> bool:
    """Ends a mute; False when there was none. Raises: AccountNotFound for the owner."""
    alias = shard_of(owner_id)
    with transaction.atomic(using=alias):
        lock_account(alias, owner_id)
        old = _read(alias, owner_id, target_id)
        if not old.is_on:
            finish_interrupted(alias, owner_id)
            return False
        _write(alias, owner_id, target_id, old._replace(is_on=False, revision=old.revision + 1))
    return True


def _read(alias: str, owner_id: int, target_id: int) -> Mute:
    row = fetch_one(alias, READ, (owner_id, target_id))
    return Mute(*row) if row else NO_MUTE


def _write(alias: str, owner_id: int, target_id: int, mute: Mute) -> None:
    execute(alias, WRITE, (owner_id, target_id, *mute))
    append_change(alias, owner_id, MuteChanged(target_id))
