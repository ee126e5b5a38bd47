"""The first round trip of a home page: what Redis knows of a reader.

It reads the invalidation log, the reader's validators and the live timeline, and what process
memory lacks: the version of the following list, the viewer state, hot authors and their entries.
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
from posts.cache.viewer_state import ask_current_viewer_state, ask_viewer_state
from posts.queries.hydrate import Hydration
from posts.queries.renewal import Renewal
from relations.queries.following import ask_current_following_version, ask_following_version
from timelines.hot.directory import directory
from timelines.hot.entries import HotEntries, hot_entries
from timelines.hot.queries.hot_followees import guess_hot_followees, list_hot_followees
from timelines.polling.ordinary import ask_has_polled
from timelines.polling.records import Poller
from timelines.queries.kept_pages import PageInputs, PageMoment, shorten
from timelines.queries.last_shown import LastShown, find_ended
from timelines.queries.likely_page import LikelyPage
from timelines.queries.merged import MergedTimeline
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline


class FirstTrip:
    """What Redis knows of a reader. Each answer is decoded at its first use.

    `below`: the upper cursor of the page. `is_polled`: copies of hot authors' entries are not used,
    so that no post becomes visible to this page later than to another one (timelines/polling).
    `likely`: the page is probably this one. So only what confirms this page is asked, and
    `viewer_state` is missing. If it is another page, call `complete`. `poller`: whose client may
    poll from the page. `is_passing`: the reader may never come back to this process, so nothing of
    the reader is kept in its memory.

    `log`: if its value is None, process memory must not be used. `just_read`: the hot authors'
    entries that this trip has read.

    The trip also brings the posts of the reader's last page up to date in process memory. Cost: one
    round trip. One more after a change of the reader. If the cached following list has expired, two
    more queries and trips.
    """

    def __init__(
        self,
        reader_id: int,
        below: str | None = None,
        is_polled: bool = False,
        likely: LikelyPage | None = None,
        poller: Poller | None = None,
        is_passing: bool = False,
    ) -> None:
        self.reader_id, self.is_passing = reader_id, is_passing
        self._hot_since_s = time.monotonic() if is_polled else 0.0
        trip = RoundTrip()
        # The log and the validators come before the values that are kept under them.
        self.log = trip.ask(LOG.ask())
        self._known_hot = directory.cached
        self.validators = trip.ask(ValidatorsQuestion(reader_id))
        if likely is None:
            self._ask_rest(trip)
        else:
            self.just_read = trip.ask(hot_entries.ask(likely.hot_followees))
        self.stored = trip.ask(timeline_store().ask(reader_id))
        self.has_polled = trip.ask(ask_has_polled(poller))
        has_posts = likely is not None and likely.is_usable
        last = None if has_posts or is_passing else find_ended(reader_id, below)
        renewal = self._ask_posts(trip, last) if last else None
        trip.run()
        self.has_redis = trip.error is None
        if renewal is not None and self.has_redis:
            with suppress(*UNREACHABLE):  # the page may not need these posts
                renewal.finish()

    def _ask_posts(self, trip: RoundTrip, last: LastShown) -> Hydration | Renewal:
        """The posts of the last page. Mostly, only their names and counts have ended."""
        ending = in_process_posts.find_ending(last.originals, last.events)
        if ending is None or self.log.since is None:
            return Hydration(trip, last.originals, last.events, log=self.log)
        return Renewal(trip, ending, last.events, self.log)

    def _ask_rest(self, trip: RoundTrip) -> None:
        """What a page needs that is made as usual. Mostly, process memory has the answers."""
        reader_id, validators = self.reader_id, self.validators
        if self.is_passing:
            self._version = trip.ask(ask_current_following_version(reader_id))
            self.viewer_state = trip.ask(ask_current_viewer_state(reader_id, validators))
        else:
            self._version = trip.ask(ask_following_version(reader_id, validators))
            self.viewer_state = trip.ask(ask_viewer_state(reader_id, validators))
        self._hot = trip.ask(directory.ask(self.log, self._known_hot))
        followees = guess_hot_followees(self.reader_id)
        self.just_read = trip.ask(hot_entries.ask(followees, self._hot_since_s))

    def complete(self) -> None:
        """Asks what the trip for a likely page left out. Cost: mostly none, else one round trip."""
        trip = RoundTrip()
        self._ask_rest(trip)
        # Together with the hot authors: an author who cools between two reads would be in neither.
        if self._known_hot is None:
            self.stored = trip.ask(timeline_store().ask(self.reader_id))
        trip.run()

    def find_inputs(self) -> PageInputs | None:
        """What a page of this trip is made of. None: it is not kept, and no kept page is used."""
        validators, stored = self.validators.value, self.stored.replies
        is_known = self.log.value is not None and validators.are_complete
        # Without a reply the timeline is on a shard, or there is none: no reply says what changed.
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
        if not followees:
            return ()
        return hot_entries.load(followees, self._hot_since_s, self.just_read.value)

    @cached_property
    def _hot_followees(self) -> Sequence[int]:
        validator = self.validators.value.relationships
        return list_hot_followees(self.reader_id, self._hot.value, validator)
