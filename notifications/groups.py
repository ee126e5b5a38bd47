"""Groups: follows, and reactions of a kind or reposts of one post, of the same half day. Pure
functions.

favourite-002821109910051-41667   favourites of this post in the half day 41667 since 1970
reaction32-002821109910051-41667  declared reactions with the number 32
follow-41667                      follows of that half day
ungrouped-1800000000000001        a notification that is a group by itself
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from counters.kinds import DECLARED
from infra.api.ids import MOST_DIGITS
from notifications.ids import IDS_A_MS, MAX_ID, first_id, kinds_of
from notifications.queries.rows import IdRange
from notifications.types import GROUPED_KINDS, NotificationKind, NotificationRow
from posts.ids import MalformedPostId, PostId

# As in Mastodon, where a group has at most twelve hours.
SPAN_MS = 12 * 3_600_000
UNGROUPED = "ungrouped"
SAMPLE = 8
# By the beginning of a key.
KIND_BY_BEGINNING = {kind.public: kind for kind in GROUPED_KINDS} | {
    f"{NotificationKind.REACTION.public}{number}": NotificationKind(number) for number in DECLARED
}
BEGINNINGS = {kind: beginning for beginning, kind in KIND_BY_BEGINNING.items()}


class GroupKey(NamedTuple):
    """Names a group. `number`: of the half day since 1970, or the id of a single notification.

    `kind`: of its rows. Of a single one, that of the digit of its id.
    """

    kind: NotificationKind
    post_id: PostId | None
    number: int
    is_single: bool = False

    @classmethod
    def of(cls, row: NotificationRow, grouped: Iterable[NotificationKind] = GROUPED_KINDS) -> Self:
        kind = NotificationKind(row.kind)
        if kind.type not in grouped:
            return cls(kinds_of(row.id)[0], None, row.id, is_single=True)
        return cls(kind, row.post_id, row.id // (IDS_A_MS * SPAN_MS))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The key of this text; None if no group can have it."""
        name, *split = text.split("-")
        number = split[-1] if split else ""
        if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
            return None
        if name == UNGROUPED and len(split) == 1:
            kinds = kinds_of(int(number))
            return cls(kinds[0], None, int(number), is_single=True) if kinds else None
        return cls._parse_group(KIND_BY_BEGINNING.get(name), split[:-1], int(number))

    @classmethod
    def _parse_group(
        cls, kind: NotificationKind | None, post: Sequence[str], number: int
    ) -> Self | None:
        if kind is None or len(post) != (kind is not NotificationKind.FOLLOW):
            return None
        try:
            return cls(kind, PostId.from_public(post[0]) if post else None, number)
        except MalformedPostId:
            return None

    @property
    def text(self) -> str:
        if self.is_single:
            return f"{UNGROUPED}-{self.number}"
        post = f"-{self.post_id.public}" if self.post_id else ""
        return f"{BEGINNINGS[self.kind]}{post}-{self.number}"

    @property
    def kinds(self) -> Sequence[NotificationKind]:
        """Those that its rows may have."""
        return kinds_of(self.number) if self.is_single else (self.kind,)

    @property
    def ids(self) -> IdRange:
        """The ids that notifications of this group can have, newest first."""
        if self.is_single:
            return IdRange(min(self.number, MAX_ID) - 1, min(self.number + 1, MAX_ID))
        begins, ends = (first_id((self.number + n) * SPAN_MS) for n in (0, 1))
        return IdRange(min(begins, MAX_ID) - 1, min(ends, MAX_ID))
