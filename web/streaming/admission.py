"""Lets a connection in: its token, its channels, and what it missed. Runs in threads of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from redis import RedisError

from accounts.api.quotas import REFUSED_TOKENS
from accounts.errors import LoginDisabled
from accounts.queries.viewers import find_viewer
from accounts.token_tags import is_tagged
from accounts.types import Viewer
from infra.api.errors import TooManyRequests
from infra.caching.questions import answer, ask_both
from infra.clock import now_ms
from infra.sharding.errors import NO_ANSWER
from notifications.api.present import present_notification
from notifications.queries.arrived import iter_arrived
from posts.reading.viewing import ask_viewer
from relations.lists.errors import ListNotFound
from relations.lists.queries.lists import get_account_list
from relations.queries.following import load_following
from timelines.tags.cache import ask_home_tags
from web.streaming.channels import LIST, NOTIFIED, NOTIFIED_SCOPE, Channel
from web.streaming.directory import Directory, Member
from web.streaming.errors import ListMissing, StoreAway, TokenRefused, TooManyTokens, TooMuchMissed
from web.streaming.feed import FeedReaders
from web.streaming.happenings.notifications import Notified
from web.streaming.history import PlacedHappening
from web.streaming.messages import Message
from web.streaming.metrics import RESUMED
from web.streaming.new_notifications import id_before, newest_known
from web.streaming.positions import ClientPosition, decode_position, encode_position
from web.streaming.router import Router, address
from web.streaming.show import AddressedHappening, show
from web.streaming.subscriber import Subscriber

# Happenings of one account. Who missed more reads its timelines.
MOST_REPLAYED = 400
_INVALID = "The access token is invalid"
# Followees whose relationships are asked for when a stream begins.
MOST_WARMED = 100
NOTHING_MISSED, REPLAYED, RELOAD = "nothing_missed", "replayed", "reload"


class Admitted(NamedTuple):
    """A connection that has been let in. `position`: from there on it gets what happens.

    `missed`: None if that is not known any more.
    """

    member: Member | None
    position: bytes
    missed: Sequence[PlacedHappening] | None


class Admission:
    def __init__(self, directory: Directory, router: Router, feeds: FeedReaders) -> None:
        self._directory, self._router, self._feeds = directory, router, feeds

    def sign_in(self, token: str, network: str, is_socket: bool) -> Subscriber:
        """The client's network pays for a token that is refused, as in the API.

        Raises: TokenRefused, TooManyTokens, StoreAway. Cost: as `find_viewer`.
        """
        if not token:
            raise TokenRefused(_INVALID)
        with _stores(), _limited():
            viewer = _find_viewer(token, network)
            if viewer is None:
                REFUSED_TOKENS.charge_network(network)
                raise TokenRefused(_INVALID)
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
            with _stores(), suppress(TooMuchMissed):
                replayed = self._replay(subscriber, channel, arrival)
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
        self._feeds.catch_up()
        with _stores():
            _check_list(subscriber.account_id, channel)
            notified_id = self._find_notified_id(subscriber, channel)
            with self._directory.lock:
                member = self._directory.listen(subscriber, channel)
                if member is not None and member.notified_id is None:
                    member.notified_id = notified_id
                history = self._router.history
                missed = None if after is None else history.since(after)
                position = encode_position(history.position)
            try:
                if member is not None:
                    self._learn(member)
            except Exception:
                self.leave(subscriber, channel)
                raise
        return Admitted(member, position, missed)

    def _find_notified_id(self, subscriber: Subscriber, channel: Channel) -> int | None:
        """Before the connection listens: what arrives later has a higher id."""
        if channel.name not in NOTIFIED or NOTIFIED_SCOPE not in subscriber.viewer.scopes:
            return None
        with self._directory.lock:
            member = self._directory.members.get(subscriber.account_id)
            known = member.notified_id if member else None
        return newest_known(subscriber.account_id) if known is None else known

    def _learn(self, member: Member) -> None:
        """The followees and home tags of the account. Another thread may do the same.

        It also brings what the rules ask to Redis: else the first message would wait for a query
        for each account that gets it.
        """
        while member.followees is None and member.subscribers:
            moves = member.moves
            followees = load_following(member.account_id).followee_ids
            viewer = ask_viewer(member.account_id, followees[:MOST_WARMED])
            _, home_tags = answer(ask_both(viewer, ask_home_tags(member.account_id)))
            with self._directory.lock:
                if member.followees is None and member.moves == moves:
                    self._directory.set_followees(member, followees, home_tags)

    def _replay(self, subscriber: Subscriber, channel: Channel, arrival: Admitted) -> list[Message]:
        """Raises: TooMuchMissed."""
        alone = Directory()
        member = alone.listen(subscriber, channel)
        if member and arrival.member:
            known = arrival.member
            alone.set_followees(member, known.followees or (), known.home_tags)
        addressed = address(arrival.missed or (), alone)
        if sum(map(len, addressed.values())) > MOST_REPLAYED:
            raise TooMuchMissed

        def load_notifications(
            notified: Mapping[int, Sequence[Notified]],
        ) -> dict[int, list[bytes]]:
            return {i: _load_notifications(i, _first_ms(addressed[i])) for i in notified}

        return show(addressed, load_notifications).get(subscriber, [])


def _find_viewer(token: str, network: str) -> Viewer | None:
    """Raises: TokenRefused for the token of a suspended user; TooManyRequests."""

    def admit() -> None:
        if not is_tagged(token):
            REFUSED_TOKENS.check_network(network)

    try:
        return find_viewer(token, admit)
    except LoginDisabled as error:
        REFUSED_TOKENS.charge_network(network)
        raise TokenRefused(error.text) from None


def _first_ms(several: Iterable[AddressedHappening]) -> int:
    """When the first change was written of which the account may be notified."""
    return min(
        each.placed.written_ms for each in several if isinstance(each.placed.happening, Notified)
    )


def _load_notifications(account_id: int, since_ms: int) -> list[bytes]:
    """Raises: TooMuchMissed."""
    notifications: list[bytes] = []
    for page in iter_arrived(account_id, id_before(since_ms), now_ms()):
        notifications += map(present_notification, page.shown)
        if len(notifications) > MOST_REPLAYED:
            raise TooMuchMissed
    return notifications


def _check_list(account_id: int, channel: Channel) -> None:
    if channel.name == LIST:
        try:
            get_account_list(account_id, int(channel.argument))
        except ListNotFound as error:
            raise ListMissing(error.text) from None


@contextmanager
def _limited() -> Iterator[None]:
    """Raises: TooManyTokens."""
    try:
        yield
    except TooManyRequests as error:
        raise TooManyTokens(error.text, int(error.headers["Retry-After"])) from None


@contextmanager
def _stores() -> Iterator[None]:
    """Raises: StoreAway."""
    try:
        yield
    except (*NO_ANSWER, RedisError):
        raise StoreAway("Try again in a moment") from None
