"""Replies to a deleted post stay, and no longer name it; the thread stays readable."""

from posts.actions import orphan_replies
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from tests.callers import Caller, ids_of
from tests.dying import dying_at
from tests.integration.posts.interacting import STATUSES, reply, see
from tests.truth import assert_drained_truth
from tests.world import forget_memory, make_accounts


def answered(caller: Caller, post: str) -> tuple[str | None, str | None]:
    status = see(caller, post)
    return status["in_reply_to_id"], status["in_reply_to_account_id"]


def test_a_reply_to_a_deleted_post_names_no_post(people, me, you, original, drain):
    """Mastodon keeps the account, and so do we: timelines leave replies to others out."""
    public = reply(you, original)["id"]
    closed = you.post(
        STATUSES, {"status": "psst", "in_reply_to_id": original, "visibility": "private"}
    ).json()["id"]
    drain()
    page = f"/api/v1/accounts/{people[1]}/statuses"
    ids_of(me.get(page)), ids_of(you.get(page))  # process memory has both posts
    assert answered(me, public) == (original, str(people[0]))
    me.delete(f"{STATUSES}/{original}")
    drain()
    assert answered(me, public) == answered(you, closed) == (None, str(people[0]))
    entry = next(one for one in you.get(page).json() if one["id"] == public)
    assert (entry["in_reply_to_id"], entry["conversation_id"]) == (None, original)
    assert ids_of(you.get(page, {"exclude_replies": "true"})) == []
    forget_memory()
    assert answered(me, public) == (None, str(people[0]))
    assert_drained_truth()


def test_an_edit_of_an_orphan_does_not_name_the_deleted_post_again(me, you, original, drain):
    post = reply(you, original)["id"]
    drain()
    me.delete(f"{STATUSES}/{original}")
    drain()
    you.client.put(f"{STATUSES}/{post}", {"status": "changed"}, "application/json")
    assert (see(me, post)["content"], answered(me, post)[0]) == ("<p>changed</p>", None)


def test_a_reply_that_comes_while_its_parent_is_deleted_is_an_orphan(
    me, you, original, drain, monkeypatch
):
    """Its author was allowed to see the post, and then the post was gone."""
    post = reply(you, original)["id"]
    delete_post(PostId.from_public(original))
    # As if the deletion was delivered before the reply was written: it finds no replies.
    monkeypatch.setattr("posts.consumers.find_answered", lambda *_: [])
    drain()
    assert answered(me, post)[0] is None


def test_very_many_replies_become_orphans_page_by_page_and_survive_a_death(
    people, me, original, drain, monkeypatch
):
    monkeypatch.setattr(orphan_replies, "MOST_AT_ONCE", 2)
    posts = [reply(Caller(one), original)["id"] for one in make_accounts(3) for _ in range(2)]
    drain()
    me.delete(f"{STATUSES}/{original}")

    with dying_at("posts.reply_orphaned"):
        drain()
    drain()
    assert [answered(me, post)[0] for post in posts] == [None] * 6
    assert_drained_truth()
