"""The parts of posts, their authors and counts, as Redis has them: one flat read.

For a page by a process that knows nothing of its posts. Nothing comes from process memory, and
nothing is kept there: for a reader who does not come back that costs more than the page.
"""

import time
from collections.abc import Collection, Sequence

from accounts.api.present import present_account
from accounts.cache import profiles
from counters.cache import account_counts
from infra.caching.questions import Question, Replies, RoundTrip
from posts.api.present import present_counts
from posts.cache.counts import number_of, post_counts
from posts.cache.weeks import ask_cached_weeks
from posts.ids import PostId, authors_of
from posts.queries.hydrate import Hydrated, Hydration, hydrate

VALUE_COMMANDS = 3  # they follow the commands for the weeks


def ask_parts(
    trip: RoundTrip, ids: Sequence[PostId], reposts: Sequence[PostId]
) -> "PartsQuestion | Hydration":
    """The posts of `ids`, and the `reposts` that show some of them. After the trip, `value`.

    Cost: a command for each author and week, and three more; no SQL when warm. What Redis lacks is
    loaded as usual, in one more trip. Posts that are older than the cached weeks come from their
    shards.
    """
    own, weeks = list(dict.fromkeys(ids)), ask_cached_weeks({*ids, *reposts}, time.time())
    if weeks is None:
        return Hydration(trip, own, reposts, is_current=True, uses_memory=False)
    return trip.ask(PartsQuestion(own, reposts, weeks))


class PartsQuestion(Question[Hydrated]):
    """`weeks`: asks for the fragments of all posts."""

    __slots__ = ("_authors", "_own", "_reposts", "_weeks")

    def __init__(
        self,
        own: Sequence[PostId],
        reposts: Sequence[PostId],
        weeks: Question[dict[PostId, bytes] | None],
    ) -> None:
        self._own, self._reposts, self._weeks = own, reposts, weeks
        self._authors = list(authors_of((*own, *reposts)))
        values = [
            ("MGET", *profiles.keys(self._authors)),
            ("MGET", *account_counts.keys(self._authors)),
            ("MGET", *post_counts.keys(map(number_of, own))),
        ]
        super().__init__([*weeks.commands(), *values], self._decode)

    def _decode(self, replies: Replies) -> Hydrated:
        return (replies and self._join(replies)) or hydrate(
            self._own, self._reposts, is_current=True
        )

    def _join(self, replies: Sequence[Sequence[bytes | None]]) -> Hydrated | None:
        """None: Redis lacks something, or it cannot be read."""
        fragments = self._weeks.decode(replies[:-VALUE_COMMANDS])
        names = profiles.read_all(replies[-3])
        totals = account_counts.read_all(replies[-2])
        if fragments is None or names is None or totals is None:
            return None
        counts = self._read_counts(fragments, replies[-1])
        if counts is None:
            return None
        known = zip(self._authors, names, totals, strict=True)
        accounts = {i: present_account(name, total) for i, name, total in known if name}
        return Hydrated(fragments, accounts, counts, has_copies=False)

    def _read_counts(
        self, fragments: Collection[PostId], raws: Sequence[bytes | None]
    ) -> dict[PostId, bytes] | None:
        """Of the posts that exist. The others have none."""
        existing = [(i, raw) for i, raw in zip(self._own, raws, strict=True) if i in fragments]
        texts = post_counts.read_all([raw for _, raw in existing])
        if texts is None:
            return None
        return {i: present_counts(text) for (i, _), text in zip(existing, texts, strict=True)}
