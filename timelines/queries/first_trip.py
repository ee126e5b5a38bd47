"""The first round trip of a home page: what Redis knows of a reader.

It reads the invalidation log, the reader's validators, and the live timeline.
"""

import time
from collections.abc import Sequence
from contextlib import suppress

from django.utils.functional import cached_property

from infra.caching.invalidation_log import LOG
from infra.caching.questions import RoundTrip
from infra.caching.viewer_validators import ValidatorsQuestion
from infra.changes.errors import UNREACHABLE
from posts.cache.in_process import in_process_posts
from posts.cache.viewer_state import ask_viewer_state
from posts.queries.hydrate import Hydration
from posts.queries.renewal import Renewal
from relations.queries.following import ask_following_version
from timelines.hot.directory import directory
from timelines.hot.entries import HotEntries, hot_entries
from timelines.hot.queries.hot_followees import guess_hot_followees, list_hot_followees
from timelines.queries.kept_pages import PageInputs, PageMoment, shorten
from timelines.queries.last_shown import LastShown, find_due
from timelines.queries.likely_page import LikelyPage
from timelines.queries.merged import MergedTimeline
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline


class FirstTrip:
    """What Redis knows of a reader. Each answer is decoded at its first use.

    `log`: without an offset process memory must not be used. `ahead`: entries of hot authors that
    were stale in process memory, or from before `since_s`. It also brings the posts of the
    reader's last page up to date in process memory. Cost: one round trip; another one after
    a change of the reader's; two more queries and trips when the cached following list expired.
    """

    def __init__(
        self,
        reader_id: int,
        below: str | None = None,
        is_polled: bool = False,
        likely: LikelyPage | None = None,
    ) -> None:
        """`below`: the upper cursor of the page. `is_polled`: hot authors' entries are read now, so
        that no post becomes visible later to this page than to another one (timelines/polling).

        `likely`: the page is probably this one. If it is not, call `complete`.
        """
        since_s = time.monotonic() if is_polled else 0.0
        self.reader_id, self._since_s = reader_id, since_s
        trip = RoundTrip()
        # The log and the validators come before the values that are kept under them.
        self.log = trip.ask(LOG.ask())
        self._known_hot = directory.cached
        self.validators = trip.ask(ValidatorsQuestion(reader_id))
        if likely is None:
            self._ask_rest(trip)
        else:
            self.ahead = trip.ask(hot_entries.ask(likely.hot_followees))
        self.stored = trip.ask(timeline_store().ask(reader_id))
        has_posts = likely is not None and likely.is_usable
        due = None if has_posts else find_due(reader_id, below)
        again = self._ask_again(trip, due) if due else None
        trip.run()
        self.has_redis = trip.error is None
        if again is not None and self.has_redis:
            with suppress(*UNREACHABLE):  # the page may not need these posts
                again.finish()

    def _ask_again(self, trip: RoundTrip, due: LastShown) -> Hydration | Renewal:
        """The posts of the last page. Mostly, only their names and counts have ended."""
        ending = in_process_posts.find_ending(due.originals, due.events)
        if ending is None or self.log.since is None:
            return Hydration(trip, due.originals, due.events, log=self.log)
        return Renewal(trip, ending, due.events, self.log)

    def _ask_rest(self, trip: RoundTrip) -> None:
        """What only a page needs that is made: mostly, process memory has the answers."""
        self._version = trip.ask(ask_following_version(self.reader_id, self.validators))
        self.viewer_state = trip.ask(ask_viewer_state(self.reader_id, self.validators))
        self._hot = trip.ask(directory.ask(self.log, self._known_hot))
        followees = guess_hot_followees(self.reader_id)
        self.ahead = trip.ask(hot_entries.ask(followees, self._since_s))

    def complete(self) -> None:
        """Asks what a trip for a likely page left out. Cost: mostly none, else one round trip."""
        trip = RoundTrip()
        self._ask_rest(trip)
        if self._known_hot is None:  # the timeline must be read together with the hot authors
            self.stored = trip.ask(timeline_store().ask(self.reader_id))
        trip.run()

    def find_inputs(self) -> PageInputs | None:
        """What a page of this trip is made of; None if pages of process memory cannot be used."""
        validators, stored = self.validators.value, self.stored.replies
        is_known = self.log.value is not None and validators.are_complete
        # Without a reply the timeline comes from a shard, or there is none.
        if not is_known or not stored or stored[-1] is None or validators.wrote_lately:
            return None
        hot = [one.as_input for one in self._hot_entries]
        return PageInputs(validators, shorten(stored), hot)

    def find_moment(self, now_ms: int) -> PageMoment:
        """When a page of this trip is made."""
        return PageMoment(
            self.reader_id, now_ms, self.log.value, self._hot.value, self._hot_followees
        )

    def find_live(self) -> LiveTimeline | None:
        """The live timeline, if it reflects the reader's following list."""
        stored = self.stored.value
        if stored is None or stored.following_version != self._version.value:
            return None
        return stored

    def merge_hot_entries(self, live: LiveTimeline) -> MergedTimeline:
        """The timeline with the entries of the hot authors among the followees."""
        return MergedTimeline(live, self._hot_entries)

    @cached_property
    def _hot_entries(self) -> Sequence[HotEntries]:
        followees = self._hot_followees
        return hot_entries.load(followees, self._since_s, self.ahead.value) if followees else ()

    @cached_property
    def _hot_followees(self) -> Sequence[int]:
        validator = self.validators.value.relationships
        return list_hot_followees(self.reader_id, self._hot.value, validator)
