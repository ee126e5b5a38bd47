"""Accounts as readers see them, and whether they exist. From the caches, or the shards."""

from collections.abc import Iterable

from accounts.api.present import present_account
from accounts.cache import profiles
from accounts.encode import encode_profile, is_locked, is_object
from accounts.errors import AccountNotFound
from accounts.queries.profiles import find_profile
from accounts.types import Profile
from counters.cache import account_counts
from infra.caching.questions import Question, answer, ask_both


def load_account_json(account_ids: Iterable[int], own_id: int | None = None) -> dict[int, bytes]:
    """Mastodon's Account as JSON, by id; unknown accounts are missing.

    `own_id`: the viewer, whose own counts include quiet follows. Cost: one round trip and no query
    if Redis has all; misses add one query per shard and cache.
    """
    return answer(ask_accounts(account_ids, own_id))


def ask_accounts(
    account_ids: Iterable[int], own_id: int | None = None
) -> Question[dict[int, bytes]]:
    """As `load_account_json`: two commands."""
    wanted = list(dict.fromkeys(account_ids))
    existing: dict[int, bytes] = {}

    def note_existing(loaded: dict[int, bytes]) -> dict[int, bytes]:
        existing.update(loaded)
        return loaded

    shown = profiles.ask_uncopied(wanted).then(note_existing)
    both = ask_both(shown, account_counts.ask_uncopied(wanted, lambda: existing))

    def present(parts: tuple[dict[int, bytes], dict[int, bytes]]) -> dict[int, bytes]:
        fragments, count_of = parts[0], parts[1].get
        return {
            i: present_account(fragments[i], count_of(i), is_own=i == own_id)
            for i in wanted
            if i in fragments
        }

    return both.then(present)


def get_account_json(account_id: int, is_own: bool = False) -> bytes:
    """One account as `load_account_json` has it. Raises AccountNotFound."""
    entities = load_account_json([account_id], own_id=account_id if is_own else None)
    if not entities:
        raise AccountNotFound
    return entities[account_id]


def find_bare_account_json(account_id: int) -> bytes | None:
    """An account that is not shown, such as a suspended one: only its name. None if there is none.

    Cost: one query by key.
    """
    profile = find_profile(account_id)
    if profile is None:
        return None
    head = profile.id, profile.username, "", "", profile.is_bot, profile.created_at, profile.version
    return present_account(encode_profile(Profile(*head)), None)


def _load_profiles(account_ids: Iterable[int]) -> dict[int, bytes]:
    return answer(profiles.ask_uncopied(list(dict.fromkeys(account_ids))))


def find_existing(account_ids: Iterable[int]) -> set[int]:
    """Those of the ids that are accounts. Cost: one round trip if Redis has them."""
    return set(_load_profiles(account_ids))


def find_objects(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Those of the accounts that are things of services, as cached fragments. Cost: one round trip
    if Redis has them."""
    return {i: text for i, text in _load_profiles(account_ids).items() if is_object(text)}


def require_account(account_id: int) -> None:
    """Raises AccountNotFound unless there is such an account. Cost: as find_existing."""
    if not find_existing([account_id]):
        raise AccountNotFound


def needs_approval(account_id: int) -> bool:
    """Whether a follow of this account awaits its approval.

    Raises: AccountNotFound. Cost: as find_existing.
    """
    shown = _load_profiles([account_id])
    if account_id not in shown:
        raise AccountNotFound
    return is_locked(shown[account_id])


def require_account_row(account_id: int) -> None:
    """As require_account, but accepts suspended accounts: they can be unfollowed.

    Cost: as find_existing, and one query for an account that is not shown.
    """
    if not find_existing([account_id]) and find_profile(account_id) is None:
        raise AccountNotFound
