"""Accounts as they are shown, and whether they exist; from the caches, at the source for misses."""

from collections.abc import Iterable, Sequence

from redis.exceptions import RedisError

from accounts.api.present import present_account
from accounts.cache import profiles
from accounts.errors import AccountNotFound
from counters.cache import account_counts
from infra.caching.client import redis


def load_account_json(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Mastodon's Account, as JSON, by id; unknown accounts are missing.

    Cost: one round trip and no query when warm; misses add one query per shard and cache.
    """
    wanted = list(dict.fromkeys(account_ids))
    if not wanted:
        return {}
    profile_entries, count_entries = _read_entries(wanted)
    fragments = profiles.complete(dict(zip(wanted, profile_entries, strict=True)))
    entries = dict(zip(wanted, count_entries, strict=True))
    counts = account_counts.complete({id_: entries[id_] for id_ in fragments})
    return {
        id_: present_account(fragments[id_], counts.get(id_)) for id_ in wanted if id_ in fragments
    }


def _read_entries(wanted: Sequence[int]) -> tuple[list[bytes | None], list[bytes | None]]:
    """Raw entries of both caches; all None without Redis."""
    try:
        entries = redis().call("MGET", *profiles.keys(wanted), *account_counts.keys(wanted))
    except RedisError:
        entries = [None] * (2 * len(wanted))
    return entries[: len(wanted)], entries[len(wanted) :]


def get_account_json(account_id: int) -> bytes:
    """One account as `load_account_json` has it. Raises AccountNotFound."""
    found = load_account_json([account_id])
    if not found:
        raise AccountNotFound
    return found[account_id]


def find_existing(account_ids: Iterable[int]) -> set[int]:
    """Those of the ids that are accounts. Cost: one round trip when warm."""
    return set(profiles.load_many(account_ids))


def require_account(account_id: int) -> None:
    """Raises AccountNotFound unless there is such an account. Cost: as find_existing."""
    if not find_existing([account_id]):
        raise AccountNotFound
