"""What each list of the API and each web page costs when it is warm: SQL statements and Redis
round trips.

A page is made of requests to the API, so a loop in a view or a template would cost a request for
each entry. The costs must not depend on the number of entries.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import pytest
from django.conf import settings

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from counters.kinds import DECLARED
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.declare_reaction import declare_reaction
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.scheduled.actions.schedule import DAY_MS, schedule_post
from posts.scheduled.types import PostParams
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.types import RepliesPolicy
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.integration.timelines.catching_up import CATCH_UP, finish, mark
from tests.world import drain_all, make_account, make_accounts, publish
from timelines.trends.actions.compute import compute_trends

pytestmark = pytest.mark.slow

# More than a page has.
MANY = 21
GUEST, ALL_READ = "guest: ", "all read: "
API = "/api/"


class Cost(NamedTuple):
    """One statement and three round trips are for what the frame of each page shows to a person who
    is signed in: the viewer, and how much is unread. One more is the page's own too."""

    sql: int
    round_trips: int


COSTS = {
    "/": Cost(2, 9),
    "/?newest=1": Cost(1, 4),
    "/catch_up": Cost(2, 9),
    "/public": Cost(1, 5),
    "/tags/tide": Cost(4, 6),
    "/followed_tags": Cost(4, 6),
    "/sidebar": Cost(2, 5),
    "/compose": Cost(1, 4),
    "/@ann": Cost(2, 6),
    "/@ann/replies": Cost(1, 5),
    "/@friend": Cost(3, 8),
    "/@friend/replies": Cost(2, 7),
    "/@friend/media": Cost(3, 8),
    "/@ann/followers": Cost(2, 7),
    "/@ann/following": Cost(1, 7),
    "/@friend/followers": Cost(2, 7),
    "/statuses/{post}": Cost(1, 9),
    "/statuses/{post}/favourites": Cost(2, 8),
    "/statuses/{post}/reactions/clap": Cost(2, 8),
    "/notifications": Cost(1, 8),
    "/notifications/mentions": Cost(1, 6),
    "/notifications/unread": Cost(1, 4),
    "/search": Cost(5, 5),
    "/search?q=tide": Cost(16, 6),
    "/search?q=person&type=accounts": Cost(6, 7),
    "/lists": Cost(2, 5),
    "/lists/{list}": Cost(12, 6),
    "/lists/{list}/edit": Cost(4, 5),
    "/bookmarks": Cost(2, 4),
    "/favourites": Cost(2, 4),
    "/conversations": Cost(2, 5),
    "/explore": Cost(3, 6),
    "/people": Cost(5, 8),
    "/people?order=new": Cost(2, 6),
    "/welcome": Cost(3, 4),
    "/welcome?step=tags": Cost(3, 4),
    "/welcome?step=people": Cost(7, 10),
    "/settings/appearance": Cost(1, 4),
    "/notices": Cost(3, 4),
    "/scheduled": Cost(2, 4),
    "/follow_requests": Cost(2, 5),
    "/special_following": Cost(2, 5),
    "/settings": Cost(1, 4),
    "/settings/profile": Cost(1, 4),
    "/settings/muted": Cost(3, 5),
    "/settings/blocked": Cost(2, 5),
    "/settings/sessions": Cost(3, 4),
    "/settings/reports": Cost(3, 4),
    "/settings/password": Cost(2, 4),
    "all read: /": Cost(1, 4),
    "guest: /": Cost(0, 4),
    "guest: /sidebar": Cost(0, 1),
    "guest: /@ann": Cost(2, 3),
    "guest: /statuses/{post}": Cost(0, 6),
    "guest: /auth/sign_in": Cost(0, 0),
    "/api/v1/timelines/home": Cost(0, 1),
    "/api/v1/timelines/public": Cost(0, 2),
    "/api/v1/timelines/tag/tide": Cost(1, 2),
    "/api/v1/timelines/list/{list}": Cost(10, 2),
    "/api/v1/accounts/{friend}": Cost(0, 1),
    "/api/v1/accounts/{friend}/statuses": Cost(0, 1),
    "/api/v1/accounts/{friend}/followers": Cost(0, 1),
    "/api/v1/accounts/{friend}/following": Cost(0, 1),
    "/api/v1/accounts/{ann}/followers": Cost(1, 2),
    "/api/v1/accounts/{ann}/following": Cost(0, 2),
    "/api/v1/accounts/quiet_following": Cost(1, 1),
    "/api/v1/accounts/special_following": Cost(1, 1),
    "/api/v1/accounts/quiet_followers": Cost(1, 1),
    "/api/v1/accounts/relation_counts": Cost(1, 1),
    "/api/v1/blocks": Cost(1, 1),
    "/api/v1/mutes": Cost(2, 1),
    "/api/v1/endorsements": Cost(1, 1),
    "/api/v1/accounts/{ann}/endorsements": Cost(1, 2),
    "/api/v1/follow_requests": Cost(1, 1),
    "/api/v1/lists": Cost(1, 1),
    "/api/v1/lists/{list}/accounts": Cost(2, 1),
    "/api/v1/statuses/{post}": Cost(0, 1),
    "/api/v1/statuses/{post}/context": Cost(0, 5),
    "/api/v1/statuses/{post}/favourited_by": Cost(1, 3),
    "/api/v1/statuses/{post}/reblogged_by": Cost(1, 1),
    "/api/v1/favourites": Cost(1, 1),
    "/api/v1/bookmarks": Cost(1, 1),
    "/api/v1/conversations": Cost(1, 2),
    "/api/v1/notifications": Cost(0, 2),
    "/api/v2/notifications": Cost(0, 4),
    "/api/v1/directory?order=new": Cost(1, 2),
    "/api/v1/directory?order=active": Cost(1, 3),
}
# With the accounts that posts address, of a reader with more relationships than one read returns.
MOST_TRIPS_WITH_REFILLS = 17
# A catch-up of one page has no order to keep.
WITH_FEW = {
    # There are no suggestions yet, so the directory is read too.
    "/people": Cost(6, 8),
    "/welcome?step=people": Cost(8, 9),
    "/catch_up": Cost(2, 8),
    "/notifications": Cost(1, 6),
    "/api/v2/notifications": Cost(0, 2),
    # A page that is not full looks for older posts in the index of two shards.
    "/public": Cost(3, 5),
    "/api/v1/timelines/public": Cost(2, 2),
    "guest: /": Cost(2, 4),
}


class Street:
    """ann follows a friend and many people, who all do the same things."""

    def __init__(self) -> None:
        self.ann, self.friend, self.fan = map(make_account, ("ann", "friend", "fan"))
        self.post = publish(self.ann, "low #tide")
        declare_reaction("clap", {"en": "clap"}, at_ms=0)
        follow(self.ann, self.friend)
        self.list = create_account_list(self.ann, "street", RepliesPolicy.FOLLOWED).list_id
        self.browser, self.guest = Browser(self.ann), Browser()
        self.client = Caller(self.ann)
        self.oldest = publish(self.friend)
        self.scheduled = 0
        self.settle(_one_on_each_shard())

    def settle(self, people: list[int]) -> None:
        """These people move in. All that they do concerns ann, her post or her friend."""
        update_profile(self.ann, ProfileEdit(is_locked=False))
        for person in people:
            self._meet(person)
        update_profile(self.ann, ProfileEdit(is_locked=True))
        for person in people:
            follow(make_account(), self.ann)
            self._write(person)
        drain_all()
        compute_trends(time.time())

    def _meet(self, person: int) -> None:
        for one, other in ((self.ann, person), (person, self.ann), (person, self.friend)):
            follow(one, other)
        follow(self.ann, person, FollowOptions(endorsed=True))
        for one, other in ((self.ann, make_account()), (make_account(), self.ann)):
            follow(one, other, FollowOptions(quiet=True, special=True))
        add_members(self.ann, self.list, [person])
        mute(self.ann, make_account())
        block(self.ann, make_account())

    def _write(self, person: int) -> None:
        post = publish(person, "high #tide")
        # Not one post of all: entries that show the same post are read and left out.
        repost(person, publish(self.friend, "more #tide"))
        for kind in (Kind.FAVOURITE, Kind.BOOKMARK):
            mark_post(self.ann, post, kind, True)
        # With these it trends.
        for fan in (self.friend, self.fan):
            mark_post(fan, post, Kind.FAVOURITE, True)
        for kind in (Kind.FAVOURITE, Kind(DECLARED.start)):
            mark_post(person, self.post, kind, True)
        create_post(person, Draft("@ann yes", in_reply_to=self.post))
        create_post(person, Draft("@ann psst", visibility=Visibility.DIRECT))
        self._schedule()

    def _schedule(self) -> None:
        """One of ann, on a day of its own."""
        self.scheduled += 1
        due_ms = now_ms() + self.scheduled * DAY_MS
        params = PostParams("later", sensitive=False, spoiler_text="", visibility="public")
        schedule_post(self.ann, params, due_ms, "", now_ms())

    def costs(self) -> dict[str, Cost]:
        """Of all pages in their order. At first all is unread."""
        mark(Caller(self.ann), self.oldest.public)
        return {page: self._cost(page) for page in COSTS}

    def _cost(self, page: str) -> Cost:
        browser = self.guest if page.startswith(GUEST) else self.browser
        read = self._ask if page.startswith(API) else browser.read
        if page.startswith(ALL_READ):
            caller = Caller(self.ann)
            finish(caller, caller.get(CATCH_UP).json()["bound"])
        path = page.removeprefix(GUEST).removeprefix(ALL_READ)
        names = {"post": self.post.public, "list": self.list}
        address = path.format(ann=self.ann, friend=self.friend, **names)
        # The first read makes it warm. Later ones may pay for others, as for a share of the quota.
        costs = []
        while len(costs) < 5 and COSTS[page] not in costs:
            costs.append(_cost_of(read, address))
        return COSTS[page] if COSTS[page] in costs else min(costs)

    def _ask(self, path: str) -> None:
        assert self.client.get(path).status_code == 200, path


def _one_on_each_shard() -> list[int]:
    """What a page asks of each shard must not look as if it grew with the entries."""
    people: dict[str, int] = {}
    while len(people) < len(settings.SHARD_ALIASES):
        person = make_account()
        people.setdefault(shard_of(person), person)
    return [*people.values()]


def _cost_of(read: Callable[[str], object], address: str) -> Cost:
    with count_calls() as calls:
        read(address)
    return Cost(calls.sql.total(), calls.round_trips)


@pytest.mark.usefixtures("delivered_at_once")
def test_pages_cost_the_same_with_many_entries(world: None) -> None:
    street = Street()
    few = street.costs()
    street.settle(make_accounts(MANY))
    many = street.costs()
    # Reposts of one post are shown once, so this page is filled again. How often depends on the
    # seconds in which they came.
    for costs in (few, many):
        assert costs["/"].round_trips <= MOST_TRIPS_WITH_REFILLS
        costs["/"] = costs["/"]._replace(round_trips=COSTS["/"].round_trips)
    assert many == COSTS
    other = {p: cost for p, cost in few.items() if cost not in (COSTS[p], WITH_FEW.get(p))}
    assert other == {}
