"""Who listens to what: the open connections, by account, by the authors followed, and by channel.

All methods need `lock`, which is held for as long as a lookup takes.
"""

import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from web.streaming.channels import DIRECT, HOME, LIST, NOTIFICATIONS, OF_FOLLOWEES, Channel
from web.streaming.subscriber import Subscriber

K = TypeVar("K")
V = TypeVar("V")
# The other channels are open to all.
_KEPT_BY_ACCOUNT = {HOME, LIST, NOTIFICATIONS, DIRECT}


class Member:
    """An account with open connections.

    `followees`: None until they have been read, and in that time each post may be for the account:
    the rules decide. `home_tags`: whose posts home shows. `moves`: follows and tags that changed
    before both were read. `notified_id`: not above that of any
    notification that a connection lacks; None: no connection gets notifications.
    """

    __slots__ = ("account_id", "followees", "home_tags", "moves", "notified_id", "subscribers")

    def __init__(self, account_id: int) -> None:
        self.account_id = account_id
        self.subscribers: set[Subscriber] = set()
        self.followees: array[int] | None = None
        self.home_tags: Sequence[str] = ()
        self.moves = 0
        self.notified_id: int | None = None

    def on(self, *names: str) -> list[tuple[Subscriber, Channel]]:
        """The connections that listen to one of these channels."""
        return [
            (subscriber, channel)
            for subscriber in self.subscribers
            for channel in subscriber.channels
            if channel.name in names
        ]

    def notified(self) -> list[Subscriber]:
        """The connections that hear of notifications."""
        return [subscriber for subscriber in self.subscribers if subscriber.is_notified]


class Directory:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.members: dict[int, Member] = {}
        self._followers: dict[int, set[int]] = {}
        self._by_home_tag: dict[str, set[int]] = {}
        self._unread: set[int] = set()
        self._by_channel: dict[Channel, set[Subscriber]] = {}
        self._by_name: dict[str, set[Subscriber]] = {}

    def listen(self, subscriber: Subscriber, channel: Channel) -> Member | None:
        """The connection gets what happens on the channel from now on. Returns the account's entry,
        unless the channel is open to all. Nothing happens if the connection has ended."""
        if subscriber.is_gone:
            return None
        subscriber.channels.add(channel)
        if channel.name not in _KEPT_BY_ACCOUNT:
            self._by_channel.setdefault(channel, set()).add(subscriber)
            self._by_name.setdefault(channel.name, set()).add(subscriber)
            return None
        member = self.members.setdefault(subscriber.account_id, Member(subscriber.account_id))
        member.subscribers.add(subscriber)
        if channel.name in OF_FOLLOWEES and member.followees is None:
            self._unread.add(member.account_id)
        return member

    def leave(self, subscriber: Subscriber, channel: Channel) -> None:
        subscriber.channels.discard(channel)
        if channel.name in _KEPT_BY_ACCOUNT:
            self._leave_account(subscriber)
            return
        _discard(self._by_channel, channel, subscriber)
        if not any(other.name == channel.name for other in subscriber.channels):
            _discard(self._by_name, channel.name, subscriber)

    def remove(self, subscriber: Subscriber) -> None:
        """The connection has ended. A thread may still be about to let it listen."""
        subscriber.is_gone = True
        for channel in [*subscriber.channels]:
            self.leave(subscriber, channel)

    def set_followees(
        self, member: Member, followees: Iterable[int], home_tags: Sequence[str] = ()
    ) -> None:
        """Of a member that has none yet, unless it is forgotten. A list takes 8 bytes for each."""
        if self.members.get(member.account_id) is not member:
            return
        self._set_home_tags(member, home_tags)
        member.followees = array("q", followees)
        for followee in member.followees:
            self._followers.setdefault(followee, set()).add(member.account_id)
        self._unread.discard(member.account_id)

    def change_follow(self, account_id: int, followee_id: int, is_follow: bool) -> None:
        """A follow of a member began or ended."""
        member = self.members.get(account_id)
        if member is None:
            return
        if member.followees is None:
            member.moves += 1
            return
        others = [followee for followee in member.followees if followee != followee_id]
        member.followees = array("q", [*others, followee_id] if is_follow else others)
        if is_follow:
            self._followers.setdefault(followee_id, set()).add(account_id)
        else:
            _discard(self._followers, followee_id, account_id)

    def change_home_tags(self, account_id: int, home_tags: Sequence[str]) -> None:
        """The home tags of a member are others now."""
        member = self.members.get(account_id)
        if member is None:
            return
        if member.followees is None:
            member.moves += 1
            return
        self._set_home_tags(member, home_tags)

    def _set_home_tags(self, member: Member, home_tags: Sequence[str]) -> None:
        for tag in member.home_tags:
            _discard(self._by_home_tag, tag, member.account_id)
        member.home_tags = home_tags
        for tag in home_tags:
            self._by_home_tag.setdefault(tag, set()).add(member.account_id)

    def subscribers(self) -> set[Subscriber]:
        """All connections."""
        of_accounts = (s for member in self.members.values() for s in member.subscribers)
        return {*of_accounts, *(s for several in self._by_channel.values() for s in several)}

    def followers_of(self, author_id: int) -> Iterator[Member]:
        """Members who follow the author or may do so, and the author."""
        accounts = {author_id, *self._unread, *self._followers.get(author_id, ())}
        return (self.members[i] for i in accounts if i in self.members)

    def with_home_tags(self, tags: Iterable[str]) -> Iterator[Member]:
        """Members whose home shows posts with any of these tags."""
        accounts = {i for tag in tags for i in self._by_home_tag.get(tag, ())}
        return (self.members[i] for i in accounts if i in self.members)

    def with_any_home_tag(self) -> Iterator[Member]:
        """Members whose home shows posts with some tags."""
        return self.with_home_tags(self._by_home_tag)

    def on(self, *channels: Channel) -> list[tuple[Subscriber, Channel]]:
        """The connections on these channels, which are open to all."""
        return [
            (subscriber, channel)
            for channel in channels
            for subscriber in self._by_channel.get(channel, ())
        ]

    def on_names(self, names: Iterable[str]) -> list[tuple[Subscriber, Channel]]:
        """The connections on channels of these names, with any argument."""
        return [
            (subscriber, channel)
            for name in names
            for subscriber in self._by_name.get(name, ())
            for channel in subscriber.channels
            if channel.name == name
        ]

    def _leave_account(self, subscriber: Subscriber) -> None:
        member = self.members.get(subscriber.account_id)
        if member is None:
            return
        if not any(other.name in _KEPT_BY_ACCOUNT for other in subscriber.channels):
            member.subscribers.discard(subscriber)
        if not member.notified():
            member.notified_id = None
        if not member.subscribers:
            self._forget(member)

    def _forget(self, member: Member) -> None:
        del self.members[member.account_id]
        self._unread.discard(member.account_id)
        self._set_home_tags(member, ())
        for followee in member.followees or ():
            _discard(self._followers, followee, member.account_id)


def _discard(sets: dict[K, set[V]], key: K, value: V) -> None:
    members = sets.get(key)
    if members is not None:
        members.discard(value)
        if not members:
            del sets[key]
