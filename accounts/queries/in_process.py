"""Accounts as they stand beside a post, as this process last heard; a second old at most.

Pages show the same few again and again.
Who is suspended has none. So a card in memory is shown only by a request that has read the log of
what is gone since (posts/cache/in_process.py), which tells of accounts too.
"""

import time
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from accounts.api.present import present_account
from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.client import Command
from infra.caching.invalidation import forget_in_process, register_copies
from infra.caching.process_cache import ProcessCache

COPY_S = 1.0
MOST_ACCOUNTS = 50_000

_accounts: ProcessCache[int, bytes] = ProcessCache("accounts.account", MOST_ACCOUNTS, COPY_S)
register_copies(profiles.family, _accounts)
register_copies(account_counts.family, _accounts)


class AccountReadPlan(NamedTuple):
    """Cards in process memory, and the accounts that Redis has to be asked for."""

    known: dict[int, bytes]
    missing: list[int]
    asked_at: float

    def commands(self) -> list[Command]:
        """At most one; replies for `complete_cards`."""
        if not self.missing:
            return []
        keys = profiles.keys(self.missing) + account_counts.keys(self.missing)
        return [("MGET", *keys)]


def plan_accounts(account_ids: Collection[int]) -> AccountReadPlan:
    return AccountReadPlan(*_accounts.split(account_ids))


def plan_accounts_from_redis(account_ids: Collection[int]) -> AccountReadPlan:
    """None of them from process memory."""
    return AccountReadPlan({}, list(account_ids), time.monotonic())


def complete_accounts(reading: AccountReadPlan, replies: Sequence[Any]) -> dict[int, bytes]:
    """Account JSON by id; what Redis lacks, or all of it without Redis (reply None), comes from
    the shards."""
    missing = reading.missing
    if not missing:
        return reading.known
    entries = replies[0] or [None] * (2 * len(missing))
    fragments = profiles.complete(dict(zip(missing, entries, strict=False)))
    counts = account_counts.complete(dict(zip(missing, entries[len(missing) :], strict=True)))
    cards = {i: present_account(text, counts.get(i)) for i, text in fragments.items()}
    _accounts.store(cards, reading.asked_at)
    return reading.known | cards


def forget_account(account_id: int) -> None:
    """It is to be shown in another way, or not at all; whatever is held or being read of it."""
    forget_in_process(profiles.family, [account_id])


def forget_accounts() -> None:
    """Empties this process's memory of accounts."""
    for copies in (_accounts, profiles, account_counts):
        copies.forget_all()
