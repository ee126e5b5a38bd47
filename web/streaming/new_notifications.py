"""Finds the notifications that connections do not know yet."""

from collections.abc import Iterable, Mapping, Sequence, Set

from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from notifications.api.present import present_notification
from notifications.ids import first_id, last_id_of
from notifications.queries.arrived import find_arrived, iter_arrived
from notifications.queries.inbox_summary import read_inbox_summary
from web.streaming.directory import Directory
from web.streaming.happenings.notifications import Notified
from web.streaming.subscriber import Subscriber

# A worker's clock may be so far behind that of the database whose time a change has.
SKEW_MS = 5_000


class ArrivedNotifications:
    """Of the members of a directory, for one sending. Each member knows the last one that its
    connections got."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._last_ids: dict[int, int] = {}

    def load(self, notified: Mapping[int, Sequence[Notified]]) -> dict[int, list[bytes]]:
        """Cost: a query for each shard of these accounts; for those that have new notifications as
        `iter_arrived`."""
        members = [self._directory.members.get(account_id) for account_id in notified]
        known = {m.account_id: m.notified_id for m in members if m and m.notified_id is not None}
        asked = [
            (account_id, kind, known[account_id])
            for account_id, several in notified.items()
            if account_id in known
            for kind in _kinds_of(account_id, several)
        ]
        return {i: self._load_of(i, known[i]) for i in find_arrived(asked)}

    def note_sent(self, receivers: Set[Subscriber]) -> None:
        """What was loaded is on its way to these connections. If the account has got another one
        in between, the next notification brings them once more: it may lack them."""
        with self._directory.lock:
            for account_id, last_id in self._last_ids.items():
                member = self._directory.members.get(account_id)
                if member is not None and receivers >= set(member.notified()):
                    member.notified_id = last_id

    def _load_of(self, account_id: int, above: int) -> list[bytes]:
        pages = list(iter_arrived(account_id, above, now_ms()))
        heard = [page.heard_id for page in pages if page.heard_id < page.last_id]
        self._last_ids[account_id] = heard[0] if heard else pages[-1].last_id
        return [present_notification(each) for page in pages for each in page.shown]


def newest_known(account_id: int) -> int:
    """Not below the id of any notification that the account has now. One query by key."""
    tick = read_inbox_summary(shard_of(account_id), account_id).newest_tick
    return last_id_of(tick)


def id_before(at_ms: int) -> int:
    """Below the id of each notification of a change that was written then or later."""
    return first_id(max(at_ms - SKEW_MS, 0))


def _kinds_of(account_id: int, several: Iterable[Notified]) -> set[int]:
    return {int(kind) for each in several for kind in each.kinds_for(account_id)}
