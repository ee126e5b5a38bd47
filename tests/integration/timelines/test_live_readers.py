"""Pushes reach readers who read lately. A returning reader is served at once."""

from django.conf import settings

from infra.caching.client import redis
from infra.caching.keys import key
from relations.actions.follow import follow
from tests.callers import Caller, ids_of
from tests.integration.timelines.homes import first_page
from tests.integration.timelines.many_followers import entries_of, of_post
from tests.world import drain_all, make_accounts, publish
from timelines.stores.packed import FAMILY

HOME = "/api/v1/timelines/home"


def test_timeline_dies_after_its_last_read_not_its_last_push(world: None) -> None:
    me, friend = make_accounts(2)
    follow(me, friend)
    first_page(me)
    redis().call("PEXPIRE", key(FAMILY, me), 5_000)
    publish(friend)
    drain_all()
    assert redis().call("PTTL", key(FAMILY, me)) <= 5_000, "a push extends no life"
    assert first_page(me)
    days_ms = settings.TIMELINE_LIVE_DAYS * 86_400_000
    assert days_ms - 60_000 < redis().call("PTTL", key(FAMILY, me)) <= days_ms


def test_who_returns_has_a_full_page_at_the_first_request(world: None) -> None:
    """The timeline expired while posts went on; read over HTTP, without anything in memory."""
    me, *friends = make_accounts(4)
    for friend in friends:
        follow(me, friend)
    drain_all()
    caller = Caller(me)
    assert ids_of(caller.get(HOME)) == []
    redis().call("PEXPIRE", key(FAMILY, me), 1)
    while redis().call("EXISTS", key(FAMILY, me)):
        pass
    posts = [publish(friend) for _ in range(10) for friend in friends]
    drain_all()
    assert redis().call("EXISTS", key(FAMILY, me)) == 0, "a reader who does not read gets no push"
    newest = [post.public for post in sorted(posts, reverse=True)]
    assert ids_of(caller.get(HOME)) == newest[:20]
    later = publish(friends[0])
    drain_all()
    assert entries_of(me) == of_post(*posts, later), "live again"
    assert ids_of(caller.get(HOME)) == sorted([later.public, *newest], reverse=True)[:20]
