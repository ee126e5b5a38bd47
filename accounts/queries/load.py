"""Accounts as readers see them, and whether they exist. From the caches, or the shards."""

from collections.abc import Callable, Iterable

from accounts.api.present import present_account
from accounts.cache import profiles
from accounts.encode import encode_profile, is_locked
from accounts.errors import AccountNotFound
from accounts.hot_profiles import load_shown_profiles
from accounts.queries.in_process import (
    ask_accounts,
    confirm_accounts,
    keep_in_spare_room,
    peek_accounts,
)
from accounts.queries.profiles import find_profile
from accounts.types import Profile
from counters.cache import account_counts
from infra.caching.invalidation_log import LOG
from infra.caching.questions import Question, Replies, RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion

AskAlso = Callable[[RoundTrip, ValidatorsQuestion], None]


def load_account_json(account_ids: Iterable[int], own_id: int | None = None) -> dict[int, bytes]:
    """Mastodon's Account as JSON, by id; unknown accounts are missing.

    `own_id`: the viewer, whose own counts include quiet follows.

    Nothing comes from process memory, so an account sees its own writes. Cost: one round trip and
    no query if Redis has all; misses add one query per shard and cache.
    """
    trip = RoundTrip()
    accounts = ask_account_json(trip, account_ids, own_id)
    trip.run()
    return accounts.value


def ask_account_json(
    trip: RoundTrip, account_ids: Iterable[int], own_id: int | None = None
) -> Question[dict[int, bytes]]:
    """As `load_account_json`, in a round trip with other questions."""
    wanted = list(dict.fromkeys(account_ids))
    if not wanted:
        return trip.ask(Question((), lambda _: {}))
    shown = trip.ask(profiles.ask_uncopied(wanted))
    counts = trip.ask(account_counts.ask_uncopied(wanted, existing=lambda: shown.value))

    def present(_: Replies) -> dict[int, bytes]:
        fragments, count_of = shown.value, counts.value.get
        return {
            id_: present_account(fragments[id_], count_of(id_), is_own=id_ == own_id)
            for id_ in wanted
            if id_ in fragments
        }

    return trip.ask(Question((), present))


def load_accounts_for(
    account_ids: Iterable[int], viewer_id: int | None, also: AskAlso = lambda *_: None
) -> dict[int, bytes]:
    """As `load_account_json`, as pages show it to a viewer: from process memory, a second behind at
    most. `also`: what else the caller asks about a viewer in the same round trip.

    Viewers who wrote lately get no copies. Accounts without a copy get one if there is room. Cost:
    one round trip, none in the read window if all have copies; two for a viewer who wrote lately.
    """
    wanted, trip = list(dict.fromkeys(account_ids)), RoundTrip()
    if not wanted:
        return {}
    log = trip.ask(LOG.ask())
    viewer = trip.ask(ValidatorsQuestion(viewer_id)) if viewer_id is not None else None
    if viewer is not None:
        also(trip, viewer)
    copies = peek_accounts(wanted if log.since is not None else ())
    others = ask_account_json(trip, [i for i in wanted if i not in copies.hits])
    trip.run()
    if copies.hits and viewer is not None and viewer.value.wrote_lately:
        return load_account_json(wanted)
    keep_in_spare_room(others.value, copies.asked_at)
    return confirm_accounts(copies.hits, log) | others.value


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


def get_account_json_for(account_id: int, viewer_id: int | None) -> bytes:
    """The same for a viewer, as pages show it: from process memory, a second behind at most.

    Not for the viewers' own accounts, nor for viewers who wrote lately: those see all they did.
    Raises AccountNotFound. Cost: one round trip, two for a viewer who wrote lately.
    """
    if account_id == viewer_id:
        return get_account_json(account_id, is_own=True)
    trip = RoundTrip()
    log = trip.ask(LOG.ask())
    viewer = trip.ask(ValidatorsQuestion(viewer_id)) if viewer_id is not None else None
    asked = trip.ask(ask_accounts([account_id], log))
    trip.run()
    if asked.has_copies and viewer is not None and viewer.value.wrote_lately:
        return get_account_json(account_id)
    profiles = asked.value
    if account_id not in profiles:
        raise AccountNotFound
    return profiles[account_id]


def find_existing(account_ids: Iterable[int]) -> set[int]:
    """Those of the ids that are accounts. Cost: one round trip if Redis has them."""
    return set(load_shown_profiles(account_ids))


def require_account(account_id: int) -> None:
    """Raises AccountNotFound unless there is such an account. Cost: as find_existing."""
    if not find_existing([account_id]):
        raise AccountNotFound


def needs_approval(account_id: int) -> bool:
    """Whether a follow of this account awaits its approval.

    Raises: AccountNotFound. Cost: as find_existing.
    """
    profiles = load_shown_profiles([account_id])
    if account_id not in profiles:
        raise AccountNotFound
    return is_locked(profiles[account_id])


def require_account_row(account_id: int) -> None:
    """As require_account, but accepts suspended accounts: they can be unfollowed.

    Cost: as find_existing, and one query for an account that is not shown.
    """
    if not find_existing([account_id]) and find_profile(account_id) is None:
        raise AccountNotFound
