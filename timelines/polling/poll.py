"""One request of a client that polls, and which late posts the client gets."""

import random
from collections.abc import Sequence

from django.utils.functional import cached_property

from posts.ids import PostId
from timelines.polling.records import Poller
from timelines.polling.types import LatePost, LatePosts, PollRecord

# An answer may get lost. A client that asks again within this time gets its late posts again.
REPEAT_MS = 5_000
# The same if several clients may have the cursor: they may poll this long after one another.
SHARED_MS = 60_000
# A client that asks again within this time does not get them again. So a client that reads until an
# answer is empty comes to an end.
AT_ONCE_MS = 250


class Poll:
    """One request of a polling client. `now_ms`: the clock of this process.

    `entered`: how many pages have ended at the cursor, as it is stored.
    """

    def __init__(
        self,
        poller: Poller,
        cursor: PostId,
        record: PollRecord,
        entered: int,
        late: LatePosts,
        now_ms: int,
    ) -> None:
        self.poller, self.cursor, self.record = poller, cursor, record
        self.entered, self.late, self.now_ms = entered, late, now_ms

    @cached_property
    def served(self) -> Sequence[PostId]:
        """What all clients with this cursor got, in the order of the record.

        With the late posts for which they had to go down a page that was cut.
        """
        below = [post.event for post in self.late.posts if self.record.is_below_cut(post)]
        return list(dict.fromkeys((*below, *self.record.served)))

    @cached_property
    def fresh(self) -> list[LatePost]:
        """Late posts that no client with this cursor got, in the order of their visible times."""
        had, owed = {*self.served, *self.record.stayed}, set(self.record.owed)
        late = (post for post in self.late.posts if post.event not in had)
        return [post for post in late if post.visible_ms > self.record.known or post.event in owed]

    def list_again(self, is_moving: bool, room: int) -> list[LatePost]:
        """Late posts to return again. `is_moving`: the page moves the client to another cursor.

        `room`: for how many of them a page has places.
        """
        record = self.record
        if is_moving:
            return self.stayed if record.is_shared else []
        pages = len(self.stayed) // room + 1 if record.is_shared else 1
        if self.is_at_once and record.stayed_times >= record.clients * pages:
            return []
        return self.stayed

    @cached_property
    def stay_order(self) -> Sequence[PostId]:
        """The ids of `stayed` in the record, in the order in which they are returned again.

        Those that were shown longest ago are first. So a client that reads on at once gets all.
        After a pause the order is random, if several clients may have the cursor: in a fixed one,
        clients that take turns would each get the same part every time.
        """
        stayed = self.record.stayed
        if self.is_at_once or not self.record.is_shared:
            return stayed
        return random.sample(stayed, len(stayed))

    @property
    def is_at_once(self) -> bool:
        """Whether late posts were returned from this cursor just now."""
        return 0 <= self.now_ms - self.record.stayed_at < AT_ONCE_MS

    @property
    def repeated_since(self) -> int:
        """Late posts that became visible at this time or before are not returned again."""
        return self.now_ms - (SHARED_MS if self.record.is_shared else REPEAT_MS)

    @cached_property
    def stayed(self) -> list[LatePost]:
        """Late posts that one of the clients with this cursor got and that may be returned again,
        in `stay_order`.
        """
        since, served = self.repeated_since, set(self.served)
        late = {post.event: post for post in self.late.posts if post.visible_ms > since}
        return [late[i] for i in self.stay_order if i in late and i not in served]
