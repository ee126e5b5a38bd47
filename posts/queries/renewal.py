"""Renewal: asks again for the names and counts of posts whose fragments are in process memory."""

from collections.abc import Collection, Mapping

from accounts.queries.in_process import ask_accounts
from infra.caching.invalidation_log import LogQuestion
from infra.caching.questions import Question, RoundTrip
from posts.cache.by_author import PostCopy
from posts.cache.counts import ask_counts
from posts.cache.in_process import StatusParts, in_process_posts
from posts.ids import PostId, authors_of


class Renewal:
    """Questions about the accounts and counts of some posts. After the round trip, `finish`.

    `copies`: of the posts, whose entities ended or end soon. `events`: reposts whose accounts are
    asked too. `log`: asked before in the same round trip, with an offset. Cost: at most three
    commands; much less than a Hydration of the posts.
    """

    def __init__(
        self,
        trip: RoundTrip,
        copies: Mapping[PostId, PostCopy],
        events: Collection[PostId],
        log: LogQuestion,
    ) -> None:
        self._copies, self._log = copies, log
        self._accounts = trip.ask(ask_accounts(authors_of([*copies, *events]), log))
        exist = trip.ask(Question((), lambda _: copies))
        self._counts = trip.ask(ask_counts(copies, exist))

    def finish(self) -> None:
        """Finishes the entities again. Not if the log has news: it may name one of the posts."""
        offset = self._log.value
        if offset is None or offset != self._log.since:
            return
        accounts, counts = self._accounts.value, self._counts.value
        parts = {
            i: StatusParts(copy.fragment, accounts[i.author_id], counts[i])
            for i, copy in self._copies.items()
            if i in counts and i.author_id in accounts
        }
        in_process_posts.finish(parts, offset)
