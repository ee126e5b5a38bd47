"""An account sees its own posts, replies, reposts and marks at its next read (promise X12).

No change is drained: only the work before the answer counts.

An account sees its own follows, blocks, mutes and lists at its next read (promise X12).

No change is drained: only the work before the answer counts.
"""

from datetime import UTC, datetime

import pytest

from tests.integration.own_writes.acting import ACCOUNTS, STATUSES, publish
from tests.world import drain_all

pytestmark = pytest.mark.redis("single", "cluster")

HOME = "/api/v1/timelines/home"
MARKED = {"favourite": "/api/v1/favourites", "bookmark": "/api/v1/bookmarks"}
# By interaction: the count of the post, and the list of the accounts behind it.
COUNTED = {
    "reblog": ("reblogs_count", "reblogged_by"),
    "favourite": ("favourites_count", "favourited_by"),
}


@pytest.fixture
def post(pair):
    """A post of the other account that everybody has read: all copies are filled."""
    actor, other = pair
    found = publish(other)
    drain_all()
    look(actor, found, other)
    return found


def look(actor, post, other):
    """All that the actor can see of a post. Fills process memory."""
    actor.act(f"{ACCOUNTS}/{other.id}/follow")
    drain_all()
    for _ in range(2):
        statuses = [one for one in actor.see(HOME) if one["id"] == post]
        actor.see(f"{STATUSES}/{post}")
        actor.see(f"{STATUSES}/{post}/context")
        actor.see(f"{ACCOUNTS}/{actor.id}")
        for person in (actor, other):
            actor.see(f"{ACCOUNTS}/{person.id}/statuses")
    return statuses


def counts_everywhere(actor, post, other, count):
    """The count in every place that shows the post: alone, at home, in the author's timeline."""
    pages = [actor.see(HOME), actor.see(f"{ACCOUNTS}/{other.id}/statuses")]
    shown = [one.get("reblog") or one for page in pages for one in page]
    found = [one[count] for one in shown if one["id"] == post]
    assert len(found) >= 2
    return {actor.see(f"{STATUSES}/{post}")[count], *found}


def test_reply_is_in_the_context_and_counted(pair, post):
    actor, other = pair
    reply = publish(actor, "so?", in_reply_to_id=post)
    context = actor.see(f"{STATUSES}/{post}/context")
    assert [one["id"] for one in context["descendants"]] == [reply]
    assert counts_everywhere(actor, post, other, "replies_count") == {1}
    actor.act(f"{STATUSES}/{reply}", method="DELETE")
    assert actor.see(f"{STATUSES}/{post}/context")["descendants"] == []
    assert counts_everywhere(actor, post, other, "replies_count") == {0}


@pytest.mark.parametrize("interaction", COUNTED)
def test_interaction_is_listed_and_counted_until_it_is_undone(pair, post, interaction):
    actor, other = pair
    count, by = COUNTED[interaction]
    for _ in range(2):
        actor.act(f"{STATUSES}/{post}/{interaction}")
        assert actor.see_ids(f"{STATUSES}/{post}/{by}") == [actor.id]
        assert counts_everywhere(actor, post, other, count) == {1}
        actor.act(f"{STATUSES}/{post}/un{interaction}")
        assert actor.see_ids(f"{STATUSES}/{post}/{by}") == []
        assert counts_everywhere(actor, post, other, count) == {0}


@pytest.mark.parametrize("mark", MARKED)
def test_marked_posts_are_listed_until_the_mark_ends(pair, post, mark):
    actor, _ = pair
    actor.act(f"{STATUSES}/{post}/{mark}")
    assert actor.see_ids(MARKED[mark]) == [post]
    assert actor.see(f"{STATUSES}/{post}")[f"{mark}ed" if mark == "bookmark" else "favourited"]
    actor.act(f"{STATUSES}/{post}/un{mark}")
    assert actor.see_ids(MARKED[mark]) == []


def test_post_is_on_every_page_and_counted_until_it_is_deleted(pair, post):
    actor, _ = pair
    mine = publish(actor, "mine")
    for path in (HOME, f"{ACCOUNTS}/{actor.id}/statuses"):
        assert mine in actor.see_ids(path)
    assert own_counts(actor, "statuses_count") == {1}
    assert own_counts(actor, "last_status_at") == {f"{datetime.now(UTC):%Y-%m-%d}"}
    actor.act(f"{STATUSES}/{mine}", method="DELETE")
    assert own_counts(actor, "last_status_at") == {None}
    for path in (HOME, f"{ACCOUNTS}/{actor.id}/statuses"):
        assert mine not in actor.see_ids(path)
    assert own_counts(actor, "statuses_count") == {0}


def test_repost_is_on_the_authors_page_until_it_is_undone(pair, post):
    actor, _ = pair
    repost = actor.act(f"{STATUSES}/{post}/reblog")["id"]
    assert repost in actor.see_ids(f"{ACCOUNTS}/{actor.id}/statuses")
    assert own_counts(actor, "statuses_count") == {1}
    actor.act(f"{STATUSES}/{post}/unreblog")
    assert repost not in actor.see_ids(f"{ACCOUNTS}/{actor.id}/statuses")
    assert own_counts(actor, "statuses_count") == {0}


def test_the_authors_page_shows_each_write_to_all_readers_at_once(pair, post):
    actor, other = pair
    page = f"{ACCOUNTS}/{actor.id}/statuses"
    shown = []
    for text in ("one", "two"):
        shown.insert(0, publish(actor, text))
        assert other.see_ids(page) == shown
    shown.insert(0, actor.act(f"{STATUSES}/{post}/reblog")["id"])
    assert other.see_ids(page) == shown
    assert other.see_ids(f"{page}?exclude_reblogs=true") == shown[1:]
    actor.act(f"{STATUSES}/{shown.pop()}", method="DELETE")
    assert other.see_ids(page) == shown


def test_counts_of_the_author_are_right_on_the_authors_posts(pair, post):
    """Accounts on pages come from process memory."""
    actor, _ = pair
    first = publish(actor, "first")
    actor.see(HOME)
    actor.act(f"{ACCOUNTS}/update_credentials", {"display_name": "Renamed"}, method="PATCH")
    second = publish(actor, "second")
    accounts = {one["id"]: one["account"] for one in actor.see(HOME)}
    for mine in (first, second):
        assert accounts[mine]["statuses_count"] == 2
        assert accounts[mine]["display_name"] == "Renamed"


def own_counts(actor, count):
    """The count of the actor's account in every place that shows the account."""
    mine = [one["account"][count] for one in actor.see(HOME) if one["account"]["id"] == actor.id]
    return {
        actor.see(f"{ACCOUNTS}/{actor.id}")[count],
        actor.see(f"{ACCOUNTS}/verify_credentials")[count],
        *mine,
    }


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
