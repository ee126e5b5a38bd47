"""An account sees its own follows, blocks, mutes and lists at its next read (promise X12).

No change is drained: only the work before the answer counts.
"""

import pytest

from tests.integration.own_writes.acting import ACCOUNTS, publish
from tests.world import drain_all

pytestmark = pytest.mark.redis("single", "cluster")

HOME = "/api/v1/timelines/home"
LISTS = "/api/v1/lists"


@pytest.fixture
def warm_pair(pair):
    """The pair, with a post each, that have read all about each other: all copies are filled."""
    actor, other = pair
    publish(other)
    publish(actor)
    drain_all()
    for _ in range(2):
        for person in (actor, other):
            for path in ("", "/followers", "/following", "/statuses"):
                actor.see(f"{ACCOUNTS}/{person.id}{path}")
        actor.see(HOME)
        actor.see(f"{ACCOUNTS}/relationships?id={other.id}")
    return actor, other


def counts_of(actor, person, count):
    """The count of a person in every place that shows the person."""
    pages = [actor.see(HOME), actor.see(f"{ACCOUNTS}/{person.id}/statuses")]
    accounts = [one["account"] for page in pages for one in page]
    listed = [one[count] for one in accounts if one["id"] == person.id]
    return {actor.see(f"{ACCOUNTS}/{person.id}")[count], *listed}


def assert_follows(actor, other, is_followed, is_quiet=False):
    followees = [other.id] * is_followed
    assert actor.see_ids(f"{ACCOUNTS}/{actor.id}/following") == followees
    shown = [actor.id] if is_followed and not is_quiet else []
    assert actor.see_ids(f"{ACCOUNTS}/{other.id}/followers") == shown
    assert counts_of(actor, other, "followers_count") == {len(shown)}
    assert actor.see(f"{ACCOUNTS}/{actor.id}")["following_count"] == is_followed
    (relationship,) = actor.see(f"{ACCOUNTS}/relationships?id={other.id}")
    assert relationship["following"] == is_followed
    authors = {one["account"]["id"] for one in actor.see(HOME)}
    assert (other.id in authors) == is_followed


def test_follow_and_its_end(warm_pair):
    actor, other = warm_pair
    for _ in range(2):
        actor.act(f"{ACCOUNTS}/{other.id}/follow")
        assert_follows(actor, other, True)
        actor.act(f"{ACCOUNTS}/{other.id}/unfollow")
        assert_follows(actor, other, False)


def test_follow_that_turns_quiet_and_open_again(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"quiet": True})
    assert_follows(actor, other, True, is_quiet=True)
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"quiet": False})
    assert_follows(actor, other, True)
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"quiet": True})
    assert_follows(actor, other, True, is_quiet=True)


def test_special_follow(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow", {"special": True})
    assert actor.see_ids("/api/v1/accounts/special_following") == [other.id]
    assert_follows(actor, other, True)


def test_block_ends_both_follows_and_unblock_restores_none(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    other.act(f"{ACCOUNTS}/{actor.id}/follow")
    drain_all()
    assert actor.see_ids(f"{ACCOUNTS}/{actor.id}/followers") == [other.id]
    actor.act(f"{ACCOUNTS}/{other.id}/block")
    assert actor.see_ids("/api/v1/blocks") == [other.id]
    assert actor.see_ids(f"{ACCOUNTS}/{actor.id}/followers") == []
    assert actor.see(f"{ACCOUNTS}/{actor.id}")["followers_count"] == 0
    assert_follows(actor, other, False)
    assert counts_of(actor, other, "following_count") == {0}
    assert actor.see_ids(f"{ACCOUNTS}/{other.id}/following") == []
    actor.act(f"{ACCOUNTS}/{other.id}/unblock")
    assert actor.see_ids("/api/v1/blocks") == []
    assert_follows(actor, other, False)


def test_mute_and_unmute(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    actor.act(f"{ACCOUNTS}/{other.id}/mute")
    assert actor.see_ids("/api/v1/mutes") == [other.id]
    assert other.id not in {one["account"]["id"] for one in actor.see(HOME)}
    actor.act(f"{ACCOUNTS}/{other.id}/unmute")
    assert actor.see_ids("/api/v1/mutes") == []
    assert other.id in {one["account"]["id"] for one in actor.see(HOME)}


def test_removed_follower(warm_pair):
    actor, other = warm_pair
    other.act(f"{ACCOUNTS}/{actor.id}/follow")
    drain_all()
    for path in (f"{actor.id}/followers", f"{other.id}/following"):
        assert len(actor.see(f"{ACCOUNTS}/{path}")) == 1
    actor.act(f"{ACCOUNTS}/{other.id}/remove_from_followers")
    for path in (f"{actor.id}/followers", f"{other.id}/following"):
        assert actor.see(f"{ACCOUNTS}/{path}") == []
    assert actor.see(f"{ACCOUNTS}/{actor.id}")["followers_count"] == 0
    assert counts_of(actor, other, "following_count") == {0}


def test_account_list_and_its_members(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    made = actor.act(LISTS, {"title": "Friends"})["id"]
    timeline = f"/api/v1/timelines/list/{made}"
    assert actor.see_ids(LISTS) == [made]
    assert actor.see(timeline) == []
    actor.act(f"{LISTS}/{made}/accounts", {"account_ids": [other.id]})
    assert actor.see_ids(f"{LISTS}/{made}/accounts") == [other.id]
    assert {one["account"]["id"] for one in actor.see(timeline)} == {other.id}
    actor.act(f"{LISTS}/{made}/accounts", {"account_ids": [other.id]}, method="DELETE")
    assert actor.see_ids(f"{LISTS}/{made}/accounts") == []
    assert actor.see(timeline) == []
    actor.act(f"{LISTS}/{made}", method="DELETE")
    assert actor.see_ids(LISTS) == []


def test_new_name_is_shown_everywhere(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    actor.see(f"{ACCOUNTS}/{other.id}/followers")
    actor.act(f"{ACCOUNTS}/update_credentials", {"display_name": "Renamed"}, method="PATCH")
    pages = [one["account"] for one in actor.see(HOME)]
    pages += [actor.see(f"{ACCOUNTS}/{path}") for path in (actor.id, "verify_credentials")]
    names = [one["display_name"] for one in pages if one["id"] == actor.id]
    names += [one["display_name"] for one in actor.see(f"{ACCOUNTS}/{other.id}/followers")]
    assert set(names) == {"Renamed"}


def test_marker(warm_pair):
    actor, other = warm_pair
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    newest = actor.see_ids(HOME)[0]
    actor.act("/api/v1/markers", {"home": {"last_read_id": newest}})
    assert actor.see("/api/v1/markers?timeline[]=home")["home"]["last_read_id"] == newest
