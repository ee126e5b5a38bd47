"""Asks the rules for each account, and makes the messages for its connections."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from infra.api.live_parts import fill_body
from infra.caching.questions import answer, ask_both, ask_each
from infra.clock import now_ms
from posts.addressed import Addressed, find_addressed
from posts.ids import PostId, authors_of
from posts.reading.hydrate import Hydrated, hydrate
from posts.reading.viewing import PostViewer, ask_viewer, view
from timelines.tags.cache import NO_CHOICES, HomeChoices, ask_home_choices
from web.streaming.channels import Channel
from web.streaming.happenings.notifications import Notified
from web.streaming.happenings.types import Shown, Target, View
from web.streaming.history import PlacedHappening
from web.streaming.messages import Message
from web.streaming.subscriber import Subscriber

# Accounts whose relationships are asked for in one round trip; their connections get the messages
# before the next ones are asked for.
AT_ONCE = 250
# By account: its new notifications as JSON.
LoadNotifications = Callable[[Mapping[int, Sequence[Notified]]], Mapping[int, Sequence[bytes]]]
Outgoing = dict[Subscriber, list[Message]]


class AddressedHappening(NamedTuple):
    """A happening, and one account's connections that may hear of it."""

    placed: PlacedHappening
    targets: Sequence[Target]


class Heard(NamedTuple):
    """One message of a connection, before it is encoded."""

    placed: PlacedHappening
    shown: Shown


# Of each account, in the order of the happenings.
Addressing = Mapping[int, Sequence[AddressedHappening]]


def show(addressed: Addressing, load_notifications: LoadNotifications) -> Outgoing:
    """The messages of these accounts, AT_ONCE at most.

    Raises: OperationalError, if a shard that is needed does not answer. Cost: two round trips when
    warm, with two commands for each account, three for replies and posts that may have tags; for
    notifications as `load_notifications`.
    """
    hydrated = _hydrate(addressed)
    named = find_addressed(hydrated.fragments)
    viewers, choices = _load_viewers(addressed, named)
    notifications, at_ms = load_notifications(_notified_in(addressed)), now_ms()
    heard: dict[Subscriber, list[Heard]] = {}
    for account_id, several in addressed.items():
        posts = view(_originals_of(several), hydrated, viewers[account_id])
        notified, home = notifications.get(account_id, ()), choices.get(account_id, NO_CHOICES)
        seen = View(account_id, at_ms, posts, named, notified, home)
        for placed, shown in _show_in_order(several, seen):
            heard.setdefault(shown.target[0], []).append(Heard(placed, shown))
    encode = MessageEncoder()
    return {subscriber: encode.all(several) for subscriber, several in heard.items()}


def _show_in_order(
    several: Sequence[AddressedHappening], seen: View
) -> Iterator[tuple[PlacedHappening, Shown]]:
    """Notifications were loaded once for all, so only the first happening shows them."""
    has_notified, filled = False, FilledPayloads(seen.account_id)
    for placed, targets in several:
        is_notified = isinstance(placed.happening, Notified)
        if not (is_notified and has_notified):
            for shown in placed.happening.show(seen, targets):
                yield placed, filled.of(shown)
        has_notified |= is_notified


def _hydrate(addressed: Addressing) -> Hydrated:
    posts = {k: v for several in addressed.values() for k, v in _posts_of(several).items()}
    if not posts:
        return Hydrated({}, {}, {})
    reposts = [event for event, original in posts.items() if event != original]
    return hydrate(list(dict.fromkeys(posts.values())), reposts)


def _load_viewers(
    addressed: Addressing, named: Mapping[PostId, Addressed]
) -> tuple[Mapping[int, PostViewer], Mapping[int, HomeChoices]]:
    """Of all accounts, with their relationships to the accounts that the posts address, and the
    choices for home of those whose choices decide."""
    questions, choosers = {}, {}
    for account_id, several in addressed.items():
        posts = _posts_of(several)
        if posts:
            others = authors_of([*posts, *posts.values()])
            others |= {i for p in posts.values() if p in named for i in named[p].account_ids}
            questions[account_id] = ask_viewer(account_id, others)
        has_tags = any(each.placed.happening.asks_home_tags for each in several)
        if has_tags or not named.keys().isdisjoint(posts):
            choosers[account_id] = ask_home_choices(account_id)
    if not questions:
        return {i: PostViewer(i) for i in addressed}, {}
    viewers, choices = answer(ask_both(ask_each(questions), ask_each(choosers)))
    return {i: viewers.get(i) or PostViewer(i) for i in addressed}, choices


def _posts_of(several: Sequence[AddressedHappening]) -> dict[PostId, PostId]:
    return {k: v for each in several for k, v in each.placed.happening.posts.items()}


def _originals_of(several: Sequence[AddressedHappening]) -> list[PostId]:
    return list(dict.fromkeys(_posts_of(several).values()))


def _notified_in(addressed: Addressing) -> dict[int, list[Notified]]:
    notified = {
        account_id: [
            each.placed.happening for each in several if isinstance(each.placed.happening, Notified)
        ]
        for account_id, several in addressed.items()
    }
    return {account_id: several for account_id, several in notified.items() if several}


class FilledPayloads:
    """Puts polls and quotes into the posts that one account gets, once for all connections."""

    def __init__(self, account_id: int) -> None:
        self._account_id = account_id
        self._filled: dict[bytes, bytes] = {}

    def of(self, shown: Shown) -> Shown:
        payload = shown.payload
        if payload is None:
            return shown
        if payload not in self._filled:
            self._filled[payload] = fill_body(payload, self._account_id)
        return shown._replace(payload=self._filled[payload])


class MessageEncoder:
    """Makes equal messages once: most viewers see the same."""

    def __init__(self) -> None:
        self._made: dict[tuple[bytes, Channel, str, bytes | None], Message] = {}

    def all(self, heard: Sequence[Heard]) -> list[Message]:
        """For one connection. Only the last message of a change moves the client behind it: one
        that got the others only gets them again."""
        following = [*(each.placed.place for each in heard[1:]), None]
        return [
            self._message(placed.before if placed.place == place else placed.after, shown)
            for (placed, shown), place in zip(heard, following, strict=True)
        ]

    def _message(self, position: bytes, shown: Shown) -> Message:
        key = position, shown.target[1], shown.event, shown.payload
        message = self._made.get(key)
        if message is None:
            message = self._made[key] = Message(*key)
        return message
