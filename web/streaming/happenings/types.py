"""The base of all happenings."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from posts.addressed import Addressed
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from timelines.tags.cache import NO_CHOICES, HomeChoices
from web.streaming.channels import Channel
from web.streaming.directory import Directory
from web.streaming.subscriber import Subscriber

# A connection, and the channel on which it gets the message.
Target = tuple[Subscriber, Channel]
# By account: the rules are asked once for each.
Audience = Mapping[int, Sequence[Target]]


class View(NamedTuple):
    """What the rules need of one account. `addressed`: of all posts, as VisibilityInputs.
    `notifications`: JSON of its new ones. `home`: what it wants at home."""

    account_id: int
    now_ms: int
    posts: ViewedPosts
    addressed: Mapping[PostId, Addressed]
    notifications: Sequence[bytes] = ()
    home: HomeChoices = NO_CHOICES


class Shown(NamedTuple):
    """A message for one connection. `payload`: JSON, or an id; None: none."""

    target: Target
    event: str
    payload: bytes | None


class Happening(ABC):
    """`posts`: each post or repost that is shown, and its original. `asks_home_tags`: whether the
    rules look at the home tags of those who may hear of it."""

    posts: Mapping[PostId, PostId] = {}
    asks_home_tags: bool = False

    @abstractmethod
    def find_audience(self, directory: Directory) -> Audience:
        """The connections that may get it. Under the directory's lock."""

    @abstractmethod
    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        """What the connections of one account get, after the rules."""


def by_account(targets: Iterable[Target]) -> Audience:
    """Without the repeats."""
    audience: dict[int, list[Target]] = {}
    for target in dict.fromkeys(targets):
        audience.setdefault(target[0].account_id, []).append(target)
    return audience
