"""Values of posts."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any, NamedTuple, Self

import msgspec

from counters.kinds import DECLARED, CounterKind, DeclaredKinds
from posts.ids import PostId

# The type of a post without one. A declared type has a dot, so it is never called so.
STATUS = "status"
LONGEST_TYPE = 64
LONGEST_REACTION = 32


class Kind(DeclaredKinds):
    """The kind of a post, or of a viewer mark. Stored as a number.

    0-2 are posts and have ids of their own. 7 is only the kind of a response: a reply that not all
    may see, so it is not counted. 8 is only the kind, in its author's list of posts, of a reply to
    the author's own post. 9 and 10 are only kinds of responses: a post or reply that quotes the
    post; of 10 not all may see it, so it is not counted. The others are viewer marks: rows of the
    account that leaves them on a post. Only the author can pin a post. THREAD_MUTE is on the first
    post of the thread. FAVOURITE is the reaction that is built in; those that services declared
    have the numbers of counters.kinds.DECLARED.
    """

    POST = 0
    REPLY = 1
    REPOST = 2
    FAVOURITE = 3
    BOOKMARK = 4
    THREAD_MUTE = 5
    PIN = 6
    CLOSED_REPLY = 7
    SELF_REPLY = 8
    QUOTE = 9
    CLOSED_QUOTE = 10


# Every reaction, with the count of it.
REACTIONS: Mapping[Kind, CounterKind] = {
    Kind.FAVOURITE: CounterKind.FAVOURITES,
    **{Kind(number): CounterKind(number) for number in DECLARED},
}
# A condition of SQL on a column `kind`.
IS_REACTION = f"(kind = {Kind.FAVOURITE:d} OR kind >= {DECLARED.start})"


class Visibility(IntEnum):
    """Which accounts may see a post (posts/rules.py). Stored as a number; a higher one is more
    closed. UNLISTED: all accounts, but only on the pages of its author, of followers and of its
    conversation.
    """

    PUBLIC = 0
    UNLISTED = 1
    PRIVATE = 2
    DIRECT = 3


class QuotePolicy(IntEnum):
    """Which accounts may quote an open post besides its author. Stored as a number. Only the author
    may quote a private post, in each case, and no account a direct one.
    """

    PUBLIC = 0
    FOLLOWERS = 1
    NOBODY = 2

    @property
    def public(self) -> str:
        """The name in the API."""
        return self.name.lower()


class ReplyPolicy(IntEnum):
    """Which accounts may reply to a post besides its author. Stored as a number. If others may, so
    may the accounts that the post mentions. To a direct message all its readers may reply.
    """

    PUBLIC = 0
    FOLLOWERS = 1
    FOLLOWING = 2
    MENTIONED = 3
    NOBODY = 4

    @property
    def public(self) -> str:
        """The name in the API."""
        return self.name.lower()


class Target(NamedTuple):
    """The post that a reply, a repost or a quote is about. Never changes.

    `kind` is REPLY, REPOST or QUOTE; of a lost one that not all could see, CLOSED_REPLY or
    CLOSED_QUOTE.
    """

    kind: int
    author_id: int
    moment: int

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)

    @classmethod
    def of(cls, kind: int, author_id: int | None, moment: int | None) -> Self | None:
        """The target from the three columns; None for a plain post."""
        if author_id is None or moment is None:
            return None
        return cls(kind, author_id, moment)


class PostRange(NamedTuple):
    """The first `most` posts of an author between two moments, from the newer or the older end.

    A post of the moment `lower` is inside the range, one of `upper` is not.
    """

    lower: int
    upper: int
    most: int
    newest_first: bool

    def after(self, moment: int) -> Self:
        """What is left when the posts up to this moment have been read."""
        if self.newest_first:
            return self._replace(upper=moment)
        return self._replace(lower=moment + 1)


class PostRow(NamedTuple):
    """A post as read from its shard. The queries of posts.queries.rows return these columns.

    `mentions`, `tags`, `media`, `poll`, `application`, `is_orphan`, `post_type`, `custom`: as the
    columns of posts.models.Post.
    """

    author_id: int
    moment: int
    text: str
    sensitive: bool
    spoiler_text: str
    language: str | None
    kind: int = Kind.POST
    target_author: int | None = None
    target_moment: int | None = None
    visibility: int = Visibility.PUBLIC
    mentions: Sequence[tuple[int, str]] | None = None
    tags: Sequence[str] | None = None
    media: Sequence[Mapping[str, Any]] | None = None
    poll: Mapping[str, Any] | None = None
    application: Mapping[str, Any] | None = None
    edited_at: datetime | None = None
    thread_author: int | None = None
    thread_moment: int | None = None
    is_orphan: bool = False
    quoted_author: int | None = None
    quoted_moment: int | None = None
    is_quote_revoked: bool = False
    quote_policy: int = QuotePolicy.PUBLIC
    reply_policy: int = ReplyPolicy.PUBLIC
    post_type: str | None = None
    custom: str | None = None

    @property
    def thread(self) -> PostId:
        """The first post of the thread; for a reply that does not name it, the post it answers."""
        if self.thread_author is not None and self.thread_moment is not None:
            return PostId.at(self.thread_author, self.thread_moment)
        if self.target is not None and self.kind == Kind.REPLY:
            return self.target.post_id
        return PostId.at(self.author_id, self.moment)

    @property
    def target(self) -> Target | None:
        return Target.of(self.kind, self.target_author, self.target_moment)

    @property
    def quoted(self) -> PostId | None:
        """The post that it quotes, also after its author revoked that."""
        target = Target.of(Kind.QUOTE, self.quoted_author, self.quoted_moment)
        return target.post_id if target else None


class WrittenPost(NamedTuple):
    """What a write of a post returned. `row`: None if it deleted the post.

    `counts`: of the author, for counters.cache.entry_of. `at_s`: on the monotonic clock.
    """

    row: PostRow | None
    counts: Sequence[int]
    at_s: float


class PublishedPost(NamedTuple):
    """`written`: None: it was published before, by an earlier request."""

    post_id: PostId
    written: WrittenPost | None


class NewPoll(msgspec.Struct, frozen=True):
    """A poll that a draft has, as the column `poll` of a post stores it."""

    options: tuple[str, ...]
    multiple: bool
    hide_totals: bool
    expires_at_s: int


class Draft(msgspec.Struct, frozen=True):
    """A post that an author wants to publish, validated by `posts.actions.check_draft`.

    `thread`: the first post of the thread, for a reply. `post_type`, `custom`: as of a post.
    """

    text: str
    sensitive: bool = False
    spoiler_text: str = ""
    language: str | None = None
    in_reply_to: PostId | None = None
    thread: PostId | None = None
    visibility: Visibility = Visibility.PUBLIC
    media: tuple[Mapping[str, Any], ...] = ()
    poll: NewPoll | None = None
    application: Mapping[str, Any] | None = None
    quoted: PostId | None = None
    quote_policy: QuotePolicy = QuotePolicy.PUBLIC
    reply_policy: ReplyPolicy = ReplyPolicy.PUBLIC
    post_type: str | None = None
    custom: str | None = None


class PostLinks(NamedTuple):
    """What the text of a post links to besides web addresses. `tags`: normalized. No repeats."""

    mentions: tuple[tuple[int, str], ...] = ()
    tags: tuple[str, ...] = ()


NO_LINKS = PostLinks()


class ResponseRow(NamedTuple):
    """One reply, repost, reaction or quote of a post, as stored on the shard of the post's author.

    `reply_moment` tells several replies or quotes of one responder apart; it is 0 for reposts and
    reactions. `at` gives the order, newest highest: the moment of a reply, repost or quote, the
    Unix milliseconds of a reaction.
    """

    author_id: int
    moment: int
    kind: int
    responder_id: int
    reply_moment: int
    at: int
    revision: int
    is_on: bool

    @property
    def identity(self) -> tuple[int, int, int, int, int]:
        return self[:5]

    @property
    def post_id(self) -> PostId:
        return PostId.at(self.author_id, self.moment)
