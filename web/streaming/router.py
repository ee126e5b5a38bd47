"""One thread takes delivered changes in turn, and gives the connections their messages."""

import asyncio
import threading
import time
from collections.abc import Iterable, Sequence
from queue import Queue

import structlog
from django.db import connections
from redis import RedisError

from infra.caching.questions import answer, ask_each
from infra.changes.feed import FeedPage, FiledChange
from infra.sharding.connection_health import drop_broken_connections, give_back_connections
from infra.sharding.errors import NO_ANSWER
from relations.queries.edges import load_edges
from timelines.tags.cache import ask_home_tags
from web.streaming.directory import Directory
from web.streaming.feed import FeedStart
from web.streaming.happenings.read import find_follow, find_retagged, read_happenings
from web.streaming.history import History, PlacedHappening
from web.streaming.metrics import DELAY, MESSAGES
from web.streaming.new_notifications import ArrivedNotifications
from web.streaming.positions import encode_position, place_of
from web.streaming.show import AT_ONCE, AddressedHappening, Addressing, Outgoing, show
from web.streaming.subscriber import STORE_AWAY, Subscriber, end_each

# Pages of the feeds that wait. Their readers wait when there are more.
MOST_PAGES = 16
log = structlog.get_logger()


class Router:
    """`loop`: of the connections."""

    def __init__(self, directory: Directory, loop: asyncio.AbstractEventLoop) -> None:
        self._directory, self._loop = directory, loop
        self.history = History()
        # Databases whose messages come.
        self.begun: set[str] = set()
        # In the event loop: all messages before it are in the queues.
        self.sent_position = b""
        # None: the end.
        self._pages: Queue[tuple[str, FeedStart | FeedPage] | None] = Queue(MOST_PAGES)
        self._thread = threading.Thread(target=self._run, name="router", daemon=True)

    def give(self, alias: str, page: FeedStart | FeedPage) -> None:
        """Waits while the router is behind."""
        self._pages.put((alias, page))

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._pages.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (given := self._pages.get()) is not None:
            alias, page = given
            drop_broken_connections()
            try:
                self._take(alias, page)
            except Exception:
                # A fault of ours: those who may have missed a message come back and reload.
                log.exception("streaming.page_failed", alias=alias)
                self._begin(alias, FeedStart(page.position))
            give_back_connections()
            self._pages.task_done()
        connections.close_all()

    def has_taken_all(self) -> bool:
        """Whether no page waits or is in hand."""
        return not self._pages.unfinished_tasks

    def _take(self, alias: str, page: FeedStart | FeedPage) -> None:
        if isinstance(page, FeedPage):
            self._route(alias, page.changes)
        else:
            self._begin(alias, page)

    def _begin(self, alias: str, start: FeedStart) -> None:
        """Who listens now may lack messages of the database: all come back."""
        with self._directory.lock:
            self.history.begin(alias, place_of(start.position))
            for change in start.recent:
                self._place(alias, change)
            self._end(self._directory.subscribers())
        self.begun.add(alias)

    def _route(self, alias: str, changes: Sequence[FiledChange]) -> None:
        self._note_follows(changes)
        self._note_home_tags(changes)
        with self._directory.lock:
            placed = [each for change in changes for each in self._place(alias, change)]
            addressed = address(placed, self._directory)
            position = encode_position(self.history.position)
        self._send(addressed)
        self._loop.call_soon_threadsafe(self._note_sent, position)
        DELAY.observe(max(time.time() - changes[0].position.row_at.timestamp(), 0.0))

    def _place(self, alias: str, change: FiledChange) -> list[PlacedHappening]:
        """What happened by this change. Under the lock."""
        place = place_of(change.position)
        happenings = read_happenings(change)
        before = encode_position(self.history.position) if happenings else b""
        self.history.move(alias, place, int(change.position.row_at.timestamp() * 1000))
        after = encode_position(self.history.position) if happenings else b""
        written_ms = int(change.created_at.timestamp() * 1000)
        placed = [
            PlacedHappening(alias, place, before, after, written_ms, each) for each in happenings
        ]
        for each in placed:
            self.history.note(each)
        return placed

    def _note_follows(self, changes: Iterable[FiledChange]) -> None:
        """Of members. One query for each shard that has some."""
        written = {pair: change.created_at for change in changes if (pair := find_follow(change))}
        with self._directory.lock:
            pairs = [pair for pair in written if pair[0] in self._directory.members]
        if not pairs:
            return
        try:
            edges = load_edges(pairs)
        except NO_ANSWER:
            self._end({s for pair in pairs for s in self._connections_of(pair[0])})
            return
        for pair in pairs:
            is_follow = pair in edges and edges[pair].is_follow
            self._change_follow(*pair, is_follow, int(written[pair].timestamp() * 1000))

    def _change_follow(
        self, account_id: int, followee_id: int, is_follow: bool, written_ms: int
    ) -> None:
        """Each database is read by itself. So posts that were written after the follow, and read
        before it, are sent now, to the connections that did not get them."""
        with self._directory.lock:
            recent = self.history.list_posts(followee_id, written_ms) if is_follow else []
            known = [each.happening.find_audience(self._directory) for each in recent]
            self._directory.change_follow(account_id, followee_id, is_follow)
            here = encode_position(self.history.position) if recent else b""
            overtaken = []
            for placed, heard in zip(recent, known, strict=True):
                audience = placed.happening.find_audience(self._directory).get(account_id, ())
                if targets := [t for t in audience if t not in heard.get(account_id, ())]:
                    late = placed._replace(before=here, after=here)
                    overtaken.append(AddressedHappening(late, targets))
        if overtaken:
            self._send({account_id: overtaken})

    def _note_home_tags(self, changes: Iterable[FiledChange]) -> None:
        """Of members. One round trip if some have changed."""
        accounts = {account for change in changes if (account := find_retagged(change))}
        with self._directory.lock:
            accounts &= self._directory.members.keys()
        if not accounts:
            return
        try:
            home_tags = answer(ask_each({i: ask_home_tags(i) for i in accounts}))
        except NO_ANSWER:
            self._end({s for account in accounts for s in self._connections_of(account)})
            return
        with self._directory.lock:
            for account_id, tags in home_tags.items():
                self._directory.change_home_tags(account_id, tags)

    def _send(self, addressed: Addressing) -> None:
        accounts = [*addressed]
        for start in range(0, len(accounts), AT_ONCE):
            self._send_some({i: addressed[i] for i in accounts[start : start + AT_ONCE]})

    def _send_some(self, addressed: Addressing) -> None:
        """Those whose store does not answer come back later, and the others have their messages."""
        notifications = ArrivedNotifications(self._directory)
        try:
            outgoing = show(addressed, notifications.load)
        except (*NO_ANSWER, RedisError) as error:
            if len(addressed) == 1:
                log.warning("streaming.store_away", error=str(error))
                self._end(subscribers_in(addressed))
                return
            for account_id, several in addressed.items():
                self._send_some({account_id: several})
        else:
            self._loop.call_soon_threadsafe(_offer_all, outgoing)
            notifications.note_sent(subscribers_in(addressed))

    def _note_sent(self, position: bytes) -> None:
        self.sent_position = position

    def _end(self, subscribers: Iterable[Subscriber]) -> None:
        self._loop.call_soon_threadsafe(end_each, list(subscribers), STORE_AWAY)

    def _connections_of(self, account_id: int) -> list[Subscriber]:
        with self._directory.lock:
            member = self._directory.members.get(account_id)
            return list(member.subscribers) if member else []


def address(placed: Iterable[PlacedHappening], directory: Directory) -> Addressing:
    """The accounts that may hear of each happening. Under the directory's lock."""
    addressed: dict[int, list[AddressedHappening]] = {}
    for each in placed:
        for account_id, targets in each.happening.find_audience(directory).items():
            addressed.setdefault(account_id, []).append(AddressedHappening(each, targets))
    return addressed


def subscribers_in(addressed: Addressing) -> set[Subscriber]:
    return {s for several in addressed.values() for each in several for s, _ in each.targets}


def _offer_all(outgoing: Outgoing) -> None:
    for subscriber, messages in outgoing.items():
        subscriber.offer(messages)
        for message in messages:
            MESSAGES.labels(message.event).inc()
