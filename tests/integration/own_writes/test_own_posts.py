"""An account sees its own posts, replies, reposts and marks at its next read (promise X12).

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
