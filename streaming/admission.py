"""Lets a connection in: its token, its channels, and what it missed. Runs in threads of its own."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from redis import RedisError

from accounts.errors import LoginDisabled
from accounts.queries.viewers import find_viewer
from infra.clock import now_ms
from infra.sharding.errors import NO_ANSWER
from notifications.api.present import present_notification
from notifications.queries.arrived import load_arrived
from relations.lists.errors import ListNotFound
from relations.lists.queries.lists import get_account_list
from relations.queries.following import load_following
from streaming.channels import LIST, Channel
from streaming.directory import Directory, Member
from streaming.errors import ListMissing, StoreAway, TokenRefused
from streaming.happenings.notifications import Notified
from streaming.history import PlacedHappening
from streaming.messages import Message
from streaming.metrics import RESUMED
from streaming.new_notifications import id_before, newest_known
from streaming.positions import ClientPosition, decode_position, encode_position
from streaming.router import Router, address
from streaming.show import show
from streaming.subscriber import Subscriber

# Happenings of one account. Who missed more reads its timelines.
MOST_REPLAYED = 400
NOTHING_MISSED, REPLAYED, RELOAD = "nothing_missed", "replayed", "reload"


class Admitted(NamedTuple):
    """A connection that has been let in. `position`: from there on it gets what happens.

    `missed`: None if that is not known any more.
    """

    member: Member | None
    position: bytes
    missed: Sequence[PlacedHappening] | None


class Admission:
    def __init__(self, directory: Directory, router: Router) -> None:
        self._directory, self._router = directory, router

    def sign_in(self, token: str, is_socket: bool) -> Subscriber:
        """Raises: TokenRefused, StoreAway. Cost: as `find_viewer`."""
        with _stores():
            try:
                viewer = find_viewer(token) if token else None
            except LoginDisabled as error:
                raise TokenRefused(error.text) from None
        if viewer is None:
            raise TokenRefused("The access token is invalid")
        return Subscriber(viewer, sha256(token.encode()).hexdigest(), is_socket)

    def listen(self, subscriber: Subscriber, channel: Channel) -> bytes:
        """The connection gets what happens after the position that this returns.

        Raises: StreamScopeMissing, ListMissing, StoreAway. Cost: for the first connection of an
        account a query and a round trip; for a list one query.
        """
        return self._let_in(subscriber, channel, None).position

    def resume(self, subscriber: Subscriber, channel: Channel, last_id: str) -> list[Message]:
        """As `listen`, and what the client missed since the message with this id. First comes
        what became of that. The connection must be replaying.

        Cost: as `listen`, and as `show` for what was missed.
        """
        after = decode_position(last_id)
        arrival = self._let_in(subscriber, channel, after)
        replayed = None
        if after is not None and arrival.missed is not None:
            with _stores():
                replayed = self._replay(subscriber, channel, arrival, after)
        outcome = RELOAD if replayed is None else REPLAYED if replayed else NOTHING_MISSED
        RESUMED.labels(outcome).inc()
        position = last_id.encode() if replayed else arrival.position
        payload = b'{"outcome":"%b"}' % outcome.encode()
        return [Message(position, channel, "resume", payload), *(replayed or ())]

    def leave(self, subscriber: Subscriber, channel: Channel) -> None:
        with self._directory.lock:
            self._directory.leave(subscriber, channel)

    def remove(self, subscriber: Subscriber) -> None:
        with self._directory.lock:
            self._directory.remove(subscriber)

    def _let_in(
        self, subscriber: Subscriber, channel: Channel, after: ClientPosition | None
    ) -> Admitted:
        channel.require(subscriber.viewer)
        with _stores():
            _check_list(subscriber.account_id, channel)
            with self._directory.lock:
                member = self._directory.listen(subscriber, channel)
                history = self._router.history
                missed = None if after is None else history.since(after)
                position = encode_position(history.position)
            if member is not None:
                self._learn(member)
        return Admitted(member, position, missed)

    def _learn(self, member: Member) -> None:
        """What the directory keeps of an account. Another thread may do the same."""
        while member.followees is None:
            member.has_moved = False
            followees = load_following(member.account_id).followee_ids
            with self._directory.lock:
                if member.followees is None and not member.has_moved:
                    self._directory.set_followees(member, followees)
        if member.notified_id is None:
            newest_id = newest_known(member.account_id)
            with self._directory.lock:
                if member.notified_id is None:
                    member.notified_id = newest_id

    def _replay(
        self, subscriber: Subscriber, channel: Channel, arrival: Admitted, after: ClientPosition
    ) -> list[Message] | None:
        """None: too much was missed."""
        alone = Directory()
        member = alone.listen(subscriber, channel)
        if member and arrival.member:
            alone.set_followees(member, arrival.member.followees or ())
        addressed = address(arrival.missed or (), alone)
        if sum(map(len, addressed.values())) > MOST_REPLAYED:
            return None

        def load_notifications(
            notified: Mapping[int, Sequence[Notified]],
        ) -> dict[int, list[bytes]]:
            return {i: _load_notifications(i, after.at_ms) for i in notified}

        return show(addressed, load_notifications).get(subscriber, [])


def _load_notifications(account_id: int, after_ms: int) -> list[bytes]:
    arrived = load_arrived(account_id, id_before(after_ms), now_ms())
    return [present_notification(notification) for notification in arrived.shown]


def _check_list(account_id: int, channel: Channel) -> None:
    if channel.name == LIST:
        try:
            get_account_list(account_id, int(channel.argument))
        except ListNotFound as error:
            raise ListMissing(error.text) from None


@contextmanager
def _stores() -> Iterator[None]:
    """Raises: StoreAway."""
    try:
        yield
    except (*NO_ANSWER, RedisError):
        raise StoreAway("Try again in a moment") from None
