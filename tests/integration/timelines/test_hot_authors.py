"""Hot authors are not pushed, and pages merge their entries: none is missing or repeated."""

from collections.abc import Callable

import pytest

from infra.caching.client import redis
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from posts.ids import EPOCH
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.integration.timelines.stars import Fans
from tests.world import make_accounts, publish
from timelines.hot.actions.cool import cool_shard
from timelines.hot.actions.heat import heat_author
from timelines.hot.directory import SET
from timelines.hot.queries.hot_authors import list_hot_authors, list_unpushed_authors

Drain = Callable[[], int]


def test_a_hot_author_is_not_pushed_and_shown_all_the_same(fans: Fans, drain: Drain) -> None:
    fans.heat()
    assert fans.stored() == 1
    for _ in range(3):
        fans.post()
        fans.post(fans.friend)
    drain()
    assert fans.stored() == 4
    for limit in (2, 40):
        assert read_to_end(fans.me, limit) == fans.expected()
        assert read_from_bottom(fans.me, limit) == fans.expected()


def test_their_posts_come_and_go_like_others(fans: Fans, drain: Drain) -> None:
    fans.heat()
    gone, kept = fans.post(), fans.post()
    drain()
    delete_post(gone)
    fans.posts.remove(gone)
    assert read_to_end(fans.me) == fans.expected(), "deleted, and no drain has run"
    unfollow(fans.me, fans.star)
    assert read_to_end(fans.me) == [], "unfollowed, and no drain has run"
    follow(fans.me, fans.star)
    assert read_to_end(fans.me) == fans.expected(), "followed, and no drain has run"
    mute(fans.me, fans.star)
    assert read_to_end(fans.me) == []
    assert kept.public in read_to_end(fans.fans[1])


def test_their_reposts_merge_with_others(fans: Fans, drain: Drain) -> None:
    fans.heat()
    (unrelated,) = make_accounts(1)
    original = publish(unrelated, clock_s=lambda: EPOCH + 500)
    repost(fans.friend, original, clock_s=lambda: EPOCH + 2000)
    last = repost(fans.star, original, clock_s=lambda: EPOCH + 3000)
    drain()
    assert first_page(fans.me) == [last.public, *fans.expected()]


@pytest.mark.parametrize("lost", ["set", "hot_entries", "timeline", "all"])
def test_whatever_redis_loses_nothing_is_missing(fans: Fans, drain: Drain, lost: str) -> None:
    fans.heat()
    fans.post()
    drain()
    read_to_end(fans.me)
    hot_entries = b"timelines.hot_entries:v1:{%d}" % fans.star
    keys = {"set": SET, "hot_entries": hot_entries, "timeline": b"timelines.home:v1:{%d}" % fans.me}
    assert redis().call("FLUSHDB") if lost == "all" else redis().call("DEL", keys[lost]) == 1
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()


def test_who_cools_is_pushed_again_and_nothing_is_missing(fans: Fans, drain: Drain) -> None:
    fans.heat()
    for _ in range(3):
        fans.post()
    drain()
    assert read_to_end(fans.me) == fans.expected()
    fans.cool()
    assert read_to_end(fans.me) == fans.expected(), "still merged"
    fans.post()
    drain()
    assert list_hot_authors(fans.shard) == []
    assert read_to_end(fans.me) == fans.expected()
    fans.post()
    drain()
    assert fans.stored() == len(fans.posts)
    assert read_to_end(fans.me) == fans.expected()


def test_who_is_hot_again_before_it_ended_stays_hot(fans: Fans, drain: Drain) -> None:
    fans.heat()
    fans.cool()
    heat_author(fans.shard, fans.star)
    fans.post()
    drain()
    assert list_hot_authors(fans.shard) == [fans.star]
    assert read_to_end(fans.me) == fans.expected()


def test_a_few_followers_to_and_fro_change_nothing(fans: Fans, drain: Drain) -> None:
    fans.heat()
    assert cool_shard(fans.shard) == []
    fans.post()
    drain()
    assert list_unpushed_authors(fans.shard, [fans.star]) == {fans.star}
