"""Profiles with copies in process memory (hot keys), checked against the invalidation log.

An account may have been suspended or limited since a copy was made, and this process may not have
received the invalidation yet. So a reader of copies also reads the log, in the same round trip, and
uses the copies that are left.
"""

from collections.abc import Iterable

from accounts.cache import profiles
from infra.caching.hot_values import HotReply
from infra.caching.invalidation_log import LOG, LogQuestion
from infra.caching.questions import Question, Replies, RoundTrip, answer


def ask_profiles(trip: RoundTrip, account_ids: Iterable[int]) -> Question[dict[int, bytes]]:
    """Fragments by account; accounts that may not be shown are missing.

    Cost: a command, and one more if there are copies. After an invalidation one round trip for the
    copies, and one query per shard for profiles that Redis lacks.
    """
    # The log first: the reply then has every entry that another thread applies after this line.
    log = LOG.ask()
    copies = profiles.hot.split(list(dict.fromkeys(account_ids)))
    if copies.hits:
        trip.ask(log)
    missing = profiles.ask(copies._replace(hits={}))

    def decode(replies: Replies) -> dict[int, bytes]:
        return _confirm(copies, log) | missing.decode(replies)

    return trip.ask(Question(missing.commands(), decode))


def load_shown_profiles(account_ids: Iterable[int]) -> dict[int, bytes]:
    """Fragments by account. Cost: one round trip if Redis has them, even if all have copies."""
    trip = RoundTrip()
    profiles = ask_profiles(trip, account_ids)
    trip.run()
    return profiles.value


def _confirm(copies: HotReply[int, bytes], log: LogQuestion) -> dict[int, bytes]:
    """The copies, after those that the log invalidates were read again. Without Redis all are."""
    known = copies.hits
    if known and log.is_away:
        known = answer(profiles.ask_uncopied(list(known)))
    elif known and log.value != log.since:
        known = profiles.load_many(known)
    # A copy is empty if there is no such account, or no page may show it.
    return {account_id: text for account_id, text in known.items() if text}
