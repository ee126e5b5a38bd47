"""Values of notifications."""

from collections.abc import Sequence
from enum import Enum, IntEnum, auto
from typing import NamedTuple

from counters.kinds import DECLARED, DeclaredKinds
from posts.ids import PostId
from posts.types import Kind


class NotificationKind(DeclaredKinds):
    """What happened. Stored as a number, which is also the last digit of a notification's id.

    A reaction that services declared is stored as its number among DECLARED, with the digit of the
    favourite (notifications/ids.py).
    """

    MENTION = 1  # also a reply
    FOLLOW = 2
    FOLLOW_REQUEST = 3
    FAVOURITE = 4
    REBLOG = 5
    STATUS = 6  # a new post of an account that the owner follows with `notify`
    POLL = 7  # the end of a poll that the owner asked or voted on
    QUOTE = 8  # a post that quotes one of the owner
    QUOTED_UPDATE = 9  # the edit of a post that a post of the owner quotes
    MODERATION_WARNING = 0  # a decision of the moderators on the owner; its actor is the owner
    REACTION = 10  # any declared reaction, in what callers select: it is not stored

    @property
    def type(self) -> "NotificationKind":
        """What the API takes it for: all declared reactions are one type."""
        return NotificationKind.REACTION if self in DECLARED else self

    @property
    def public(self) -> str:
        """The name in the API."""
        return self.type.name.lower()


ALL_KINDS = tuple(NotificationKind)
STORED_KINDS = tuple(kind for kind in ALL_KINDS if kind is not NotificationKind.REACTION)
KIND_BY_NAME = {kind.public: kind for kind in ALL_KINDS}
# Kinds that strangers can cause in any number, without writing a word.
CROWD_KINDS = (
    NotificationKind.FOLLOW,
    NotificationKind.FAVOURITE,
    NotificationKind.REBLOG,
    NotificationKind.REACTION,
)
# Kinds that an owner can cause. Of the others, what one does to oneself notifies of nothing.
OWN_KINDS = (NotificationKind.POLL, NotificationKind.MODERATION_WARNING)
# Kinds that are shown together: "ann and 12 others favourited your post".
GROUPED_KINDS = CROWD_KINDS
# Kinds about a post of the owner, and its response. The post of a mention belongs to its author.
RESPONSE_OF = {
    NotificationKind.FAVOURITE: Kind.FAVOURITE,
    NotificationKind.REBLOG: Kind.REPOST,
    **{NotificationKind(number): Kind(number) for number in DECLARED},
}


class Occurrence(NamedTuple):
    """Something that happened to an account, as its source has it now.

    `owner_id`: the recipient. `post_author`, `post_moment`: the post it is about; 0 for none. Of a
    warning, `post_moment` is the number of the decision.
    `at_ms`: when it happened. `revision`: grows with each change of the source. `is_on`: False once
    it was undone.
    """

    owner_id: int
    from_id: int
    kind: int
    post_moment: int
    post_author: int
    at_ms: int
    revision: int
    is_on: bool

    @property
    def identity(self) -> tuple[int, int, int, int, int]:
        return self[:5]


class NotificationRow(NamedTuple):
    """A notification as its shard has it."""

    id: int
    kind: int
    from_id: int
    post_author: int
    post_moment: int
    at_ms: int

    @property
    def post_id(self) -> PostId | None:
        return PostId.at(self.post_author, self.post_moment) if self.post_author else None

    @property
    def decision_id(self) -> int | None:
        """The moderators' decision that a warning is about; None for the other kinds."""
        is_warning = self.kind == NotificationKind.MODERATION_WARNING
        return self.post_moment if is_warning else None


class Measure(IntEnum):
    """What an owner's policy does with a notification. Stored as a number."""

    ACCEPT = 0
    FILTER = 1  # only in the list of requests
    DROP = 2  # nowhere

    @property
    def public(self) -> str:
        """The name in the API."""
        return self.name.lower()


class Policy(NamedTuple):
    """The measures of an owner, as the columns of the inbox. The defaults are Mastodon's."""

    for_not_following: Measure = Measure.ACCEPT
    for_not_followers: Measure = Measure.ACCEPT
    for_new_accounts: Measure = Measure.ACCEPT
    for_private_mentions: Measure = Measure.FILTER
    for_limited_accounts: Measure = Measure.FILTER


# The names of version 1 of the API, which only filters, and their columns.
FILTER_NAMES = {
    name.replace("for_", "filter_", 1): name
    for name in Policy._fields
    if name != "for_limited_accounts"
}
MEASURE_BY_NAME = {measure.public: measure for measure in Measure}


class Verdict(Enum):
    """What the lists of an owner do with a notification."""

    SHOWN = auto()
    FILTERED = auto()  # only in the list of requests
    HIDDEN = auto()


ONLY_SHOWN = frozenset((Verdict.SHOWN,))
ONLY_FILTERED = frozenset((Verdict.FILTERED,))


class Selection(NamedTuple):
    """Which notifications of an owner a list has. `from_id`: only those of this account.

    `kinds`: REACTION means all declared ones.
    """

    kinds: Sequence[NotificationKind] = ALL_KINDS
    from_id: int | None = None
    verdicts: frozenset[Verdict] = ONLY_SHOWN
