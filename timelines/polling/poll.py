"""One request of a client that polls, and which late posts the client gets."""

from typing import NamedTuple

from infra.telemetry.reached import reached
from posts.ids import LAST, PostId
from timelines.polling.records import Poller, Records
from timelines.polling.types import LatePost, LatePosts, PollRecord

# An answer may get lost. A client that asks again within this time gets its late posts again.
REPEAT_MS = 5_000
# The same if several clients may have the cursor: they may poll this long after one another.
SHARED_MS = 60_000
# A client that asks again within this time does not get them again. So a client that reads until an
# answer is empty comes to an end.
AT_ONCE_MS = 250


class Poll(NamedTuple):
    """One request of a polling client. `now_ms`: the clock of this process."""

    poller: Poller
    cursor: PostId
    below: PostId
    records: Records
    late: LatePosts
    now_ms: int

    @property
    def record(self) -> PollRecord:
        """The record of the cursor. If there is none: the client got all up to the floor."""
        known = self.records.get(self.cursor)
        if known is not None:
            return known
        reached("polls.record_missing")
        return PollRecord(0, self.late.floor, self.late.floor)

    @property
    def fresh(self) -> list[LatePost]:
        """Late posts that no client with this cursor got, in the order of their visible times."""
        served = self.record.served.union(self.record.stayed)
        return [one for one in self.late.posts if one.event not in served]

    def list_again(self, is_moving: bool) -> list[LatePost]:
        """Late posts to return again. `is_moving`: the page moves the client to another cursor."""
        record = self.record
        if is_moving:
            return self.stayed if record.is_shared else []
        if self.is_going_down:
            return self.stayed
        if self.is_at_once and record.stayed_times >= record.entered:
            return []
        return self.stayed

    @property
    def is_going_down(self) -> bool:
        """Whether the client goes on below a cut page. That page may just have had late posts."""
        return self.below != LAST

    @property
    def is_at_once(self) -> bool:
        """Whether late posts were returned from this cursor just now."""
        return 0 <= self.now_ms - self.record.stayed_at < AT_ONCE_MS

    @property
    def repeated_since(self) -> int:
        """Late posts that became visible at this time or before are not returned again."""
        return self.now_ms - (SHARED_MS if self.record.is_shared else REPEAT_MS)

    @property
    def stayed(self) -> list[LatePost]:
        """Late posts that one of the clients with this cursor got and that may be returned again.

        Those that were shown longest ago are first.
        """
        since, served = self.repeated_since, self.record.served
        late = {one.event: one for one in self.late.posts if one.visible_ms > since}
        return [late[i] for i in self.record.stayed if i in late and i not in served]
