"""Account JSON in process memory, a second behind at most: pages show the same few authors.

A suspended account must disappear at once. So a page uses an account from memory only if it has
also read the invalidation log, which names restricted accounts.
"""

import time
from collections.abc import Collection, Mapping
from functools import partial
from struct import Struct

from accounts.api.present import present_account
from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.client import Command
from infra.caching.copy_ages import NAMES_AND_COUNTS
from infra.caching.invalidation import forget_family, forget_in_process, register_copies
from infra.caching.invalidation_log import LOG, LogEntryKind, LogQuestion, log_command
from infra.caching.process_cache import ProcessCache, ProcessCacheReply
from infra.caching.process_memory import most_entries
from infra.caching.questions import Question, answer, ask_both

ACCOUNT = Struct(">I")
MOST_ACCOUNTS = most_entries("accounts.account", share=0.07, bytes_each=1_300)

_accounts: ProcessCache[int, bytes] = ProcessCache(
    "accounts.account", MOST_ACCOUNTS, NAMES_AND_COUNTS
)
register_copies(profiles.family, _accounts)
register_copies(account_counts.family, _accounts)


def ask_accounts(
    account_ids: Collection[int], log: LogQuestion | None = None, is_current: bool = False
) -> Question[dict[int, bytes]]:
    """Account JSON by id, of the accounts that pages may show.

    `log`: asked before in the same round trip, unless this request has read the log already. It
    confirms what comes from process memory. `is_current`: nothing comes from there. Cost: at most
    two commands; one more round trip for those that the log names. Shards give what Redis lacks.
    """
    if not account_ids:
        return Question((), lambda _: {})
    if is_current or (log is not None and log.since is None):
        copies = ProcessCacheReply[int, bytes]({}, list(account_ids), time.monotonic())
    else:
        copies = _accounts.split(account_ids)
    if not copies.missing:
        return Question(
            (), lambda _: confirm_accounts(copies.hits, log), has_copies=bool(copies.hits)
        )
    both = profiles.ask_uncopied(copies.missing), account_counts.ask_uncopied(copies.missing)
    return ask_both(*both).then(partial(_merge, copies, log), has_copies=bool(copies.hits))


def _merge(
    copies: ProcessCacheReply[int, bytes],
    log: LogQuestion | None,
    entries: tuple[dict[int, bytes], dict[int, bytes]],
) -> dict[int, bytes]:
    """All accounts, after those that were missing are in process memory too."""
    fragments, counts = entries
    accounts = {i: present_account(text, counts.get(i)) for i, text in fragments.items()}
    _accounts.store(accounts, copies.asked_at)
    return confirm_accounts(copies.hits, log) | accounts


def confirm_accounts(known: dict[int, bytes], log: LogQuestion | None) -> dict[int, bytes]:
    """The accounts, after those that the log invalidates were read again. Without Redis all are."""
    if log is None or not known:
        return known
    if log.is_away:
        return answer(ask_accounts(known, is_current=True))
    return known if log.value == log.since else answer(ask_accounts(known))


def find_account_asked_at(account_id: int, account: bytes) -> float:
    """When this JSON was asked for, if it is the copy in process memory; else -inf."""
    return _accounts.find_asked_at(account_id, account)


def peek_accounts(account_ids: Collection[int]) -> ProcessCacheReply[int, bytes]:
    """The accounts that have a copy, and those that have none. For a request that has not read the
    log yet: once it has, ask `confirm_accounts`, or `is_account_current` for one of them."""
    return _accounts.split(account_ids)


def keep_in_spare_room(accounts: Mapping[int, bytes], asked_at: float) -> None:
    """Copies of accounts that only lists show: they must not drop those of many pages. `asked_at`:
    of `peek_accounts`."""
    _accounts.store_in_spare_room(accounts, asked_at)


def has_accounts(account_ids: Collection[int]) -> bool:
    """Whether this process has copies of all of them. The log may say more."""
    return _accounts.has_all(account_ids)


def is_account_current(account_id: int, account: bytes) -> bool:
    """Whether this process has a copy of the account, and this JSON is equal to it.

    The request has read the invalidation log."""
    return _accounts.has(account_id, account)


def account_invalidation_command(account_id: int, clock_s: float) -> Command:
    """Removes an account from the memory of all processes. Send it after all caches are updated."""
    return log_command(LogEntryKind.ACCOUNT, ACCOUNT.pack(account_id), clock_s)


def forget_accounts() -> None:
    """Forgets all accounts."""
    for family in (profiles.family, account_counts.family):
        forget_family(family)


def _forget_account(packed: bytes) -> None:
    """Forgets an account that changed, and ignores reads of it that are under way."""
    forget_in_process(profiles.family, ACCOUNT.unpack(packed))


LOG.register(LogEntryKind.ACCOUNT, _forget_account)
