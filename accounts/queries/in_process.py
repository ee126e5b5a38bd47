"""Account JSON in process memory, at most COPY_S old: pages show the same few authors repeatedly.

A suspended account must disappear at once. So a page uses an account from memory only if it has
also read the invalidation log, which names restricted accounts.
"""

import time
from collections.abc import Collection, Sequence
from struct import Struct
from typing import Any, NamedTuple

from accounts.api.present import present_account
from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.client import Command
from infra.caching.invalidation import forget_in_process, register_copies
from infra.caching.invalidation_log import LOG, LogEntryKind, log_command
from infra.caching.process_cache import ProcessCache

ACCOUNT = Struct(">I")
COPY_S = 1.0
MOST_ACCOUNTS = 50_000

_accounts: ProcessCache[int, bytes] = ProcessCache("accounts.account", MOST_ACCOUNTS, COPY_S)
register_copies(profiles.family, _accounts)
register_copies(account_counts.family, _accounts)


class AccountReadPlan(NamedTuple):
    """Accounts from process memory, and those to read from Redis."""

    known: dict[int, bytes]
    missing: list[int]
    asked_at: float

    def commands(self) -> list[Command]:
        """At most one command; replies for `complete_accounts`."""
        if not self.missing:
            return []
        keys = profiles.keys(self.missing) + account_counts.keys(self.missing)
        return [("MGET", *keys)]


def plan_accounts(account_ids: Collection[int]) -> AccountReadPlan:
    return AccountReadPlan(*_accounts.split(account_ids))


def plan_accounts_from_redis(account_ids: Collection[int]) -> AccountReadPlan:
    """A plan that reads all of them from Redis."""
    return AccountReadPlan({}, list(account_ids), time.monotonic())


def complete_accounts(plan: AccountReadPlan, replies: Sequence[Any]) -> dict[int, bytes]:
    """Account JSON by id. Loads from the shards what Redis lacks; all if the reply is None."""
    missing = plan.missing
    if not missing:
        return plan.known
    entries = replies[0] or [None] * (2 * len(missing))
    fragments = profiles.complete(dict(zip(missing, entries, strict=False)))
    counts = account_counts.complete(dict(zip(missing, entries[len(missing) :], strict=True)))
    accounts = {i: present_account(text, counts.get(i)) for i, text in fragments.items()}
    _accounts.store(accounts, plan.asked_at)
    return plan.known | accounts


def account_invalidation_command(account_id: int, clock_s: float) -> Command:
    """Removes an account from the memory of all processes. Send it after all caches are updated."""
    return log_command(LogEntryKind.ACCOUNT, ACCOUNT.pack(account_id), clock_s)


def forget_accounts() -> None:
    """Forgets all accounts."""
    for copies in (_accounts, profiles, account_counts):
        copies.forget_all()


def _forget_account(packed: bytes) -> None:
    """Forgets an account that changed, and ignores reads of it that are under way."""
    forget_in_process(profiles.family, ACCOUNT.unpack(packed))


LOG.register(LogEntryKind.ACCOUNT, _forget_account)
