"""Edits over HTTP: the new text everywhere at the next read, the old one only in the history."""

import orjson
from django.test import Client

from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from posts.changes import PostEdited
from posts.ids import PostId
from posts.models import PostVersion
from relations.actions.follow import follow
from tests.callers import Caller, assert_refused, ids_of
from tests.integration.posts.interacting import STATUSES, do, reply, see
from tests.races import failures, run_together
from tests.truth import assert_drained_truth
from tests.world import publish
from timelines.tags.actions.index_posts import index_posts


def edit(caller: Caller, post: str, text: str, status: int = 200, **more: object):
    answer = caller.client.put(
        f"{STATUSES}/{post}", orjson.dumps({"status": text} | more), "application/json"
    )
    assert answer.status_code == status, answer.content
    return answer.json()


def history(post: str, caller: Caller | None = None, status: int = 200):
    answer = (caller.client if caller else Client()).get(f"{STATUSES}/{post}/history")
    assert answer.status_code == status, answer.content
    return answer.json()


def source(caller: Caller, post: str):
    return caller.get(f"{STATUSES}/{post}/source").json()


def test_the_new_text_is_everywhere_and_the_old_one_only_in_the_history(people, me, you, drain):
    follow(people[1], people[0])
    made = me.post(STATUSES, {"status": "old #tide", "spoiler_text": "first", "language": "de"})
    post = made.json()["id"]
    do(you, "favourite", post), do(you, "reblog", post)
    drain()
    pages = (
        "/api/v1/timelines/home",
        f"/api/v1/accounts/{people[0]}/statuses",
        f"{STATUSES}/{post}",
        f"{STATUSES}?id[]={post}",
        "/api/v1/favourites",
        f"/api/v1/accounts/{people[1]}/statuses",
    )
    before = {path: you.get(path).content for path in pages}
    assert all(b"old" in body for body in before.values())

    shown = edit(me, post, "new <b> #river", sensitive=True)
    for path in pages:
        body = you.get(path).content
        assert b"new &lt;b&gt;" in body, path
        assert b"old" not in body, path
    assert shown["content"] == see(you, post)["content"]
    assert [tag["name"] for tag in shown["tags"]] == ["river"]
    assert (shown["spoiler_text"], shown["sensitive"], shown["language"]) == ("", True, "de")
    assert (shown["favourites_count"], shown["reblogs_count"]) == (1, 1)
    assert shown["edited_at"]
    assert shown["created_at"] == made.json()["created_at"]
    first, last = history(post)
    assert "old" in first["content"]
    assert (first["spoiler_text"], first["created_at"]) == ("first", made.json()["created_at"])
    assert (last["content"], last["created_at"]) == (shown["content"], shown["edited_at"])
    assert last["account"]["id"] == str(people[0])
    assert source(me, post) == {"id": post, "text": "new <b> #river", "spoiler_text": ""}
    drain()
    assert_drained_truth()


def test_an_edit_moves_no_post_in_a_timeline(people, me, you):
    posts = [publish(people[0], text).public for text in ("one", "two")]
    edit(me, posts[0], "one again")
    assert ids_of(you.get(f"/api/v1/accounts/{people[0]}/statuses")) == posts[::-1]


def test_a_repeated_edit_is_one(people, me, original):
    first = edit(me, original, "again")
    assert edit(me, original, "again") == first
    assert len(history(original)) == 2


def test_bad_edits_are_refused_with_the_reason(me, original):
    for sent, text in [
        ({"status": " "}, "blank"),
        ({"status": "x" * 501}, "limit"),
        ({"status": "x", "poll": {"a": 1}}, "Poll"),
        ({"status": "x", "visibility": "private"}, "visibility"),
    ]:
        answer = me.client.put(f"{STATUSES}/{original}", orjson.dumps(sent), "application/json")
        assert_refused(answer, 422)
        assert text in answer.json()["error"], (sent, text)
        assert len(history(original)) == 1, (sent, text)


def test_only_the_author_edits_and_no_repost(people, me, you, original):
    edit(you, original, "mine", status=404)
    edit(you, do(you, "reblog", original)["id"], "mine", status=404)
    answer = reply(you, original)["id"]
    assert edit(you, answer, "a better reply", visibility="public")["in_reply_to_id"] == original


def test_edits_have_an_end(me, original, monkeypatch):
    monkeypatch.setattr("posts.actions.edit_post.MAX_EDITS", 2)
    edit(me, original, "two"), edit(me, original, "three")
    assert "2 times" in edit(me, original, "four", status=422)["error"]
    assert see(me, original)["content"] == "<p>three</p>"


def test_new_links_of_an_edit_count_for_the_day(me, original, settings):
    settings.TAGS_PER_DAY = 2
    edit(me, original, "#one #two")
    edit(me, original, "#two #one")  # no new ones
    edit(me, original, "#one #three", status=429)


def test_deleting_a_post_deletes_its_versions(people, me, original):
    edit(me, original, "again")
    assert me.delete(f"{STATUSES}/{original}").json()["text"] == "again"
    assert not PostVersion.objects.of(people[0]).exists()
    history(original, status=404)
    edit(me, original, "too late", status=404)


def test_who_may_not_see_the_post_sees_no_version_of_it(people, me, you, original):
    edit(me, original, "again")
    me.post(f"/api/v1/accounts/{people[1]}/block")
    history(original, you, status=404)
    assert you.get(f"{STATUSES}/{original}/source").status_code == 404


def test_edits_at_once_are_versions_in_their_order(people, me, original, drain):
    texts = [f"text {n}" for n in range(4)]
    shown = run_together(lambda text=text: edit(me, original, text) for text in texts)
    assert not failures(shown)
    versions = history(original)
    assert len(versions) == 5
    assert sorted(one["content"] for one in versions[1:]) == sorted(f"<p>{t}</p>" for t in texts)
    assert see(me, original)["content"] == versions[-1]["content"]
    drain()
    assert see(me, original)["content"] == versions[-1]["content"]


def test_an_edit_races_a_deletion(people, me, original, drain):
    calls = [lambda: edit(me, original, "again"), lambda: me.delete(f"{STATUSES}/{original}")]
    run_together(calls)
    assert me.get(f"{STATUSES}/{original}").status_code == 404
    assert not PostVersion.objects.of(people[0]).exists()
    drain()
    assert ids_of(me.get(f"/api/v1/accounts/{people[0]}/statuses")) == []
    assert_drained_truth()


def test_an_edit_is_a_change_that_names_old_and_new_links(people, me):
    post = me.post(STATUSES, {"status": "#old"}).json()["id"]
    edit(me, post, "#new")
    change = Change.objects.on(shard_of(people[0])).get(kind=PostEdited.kind)
    assert (change.payload["tags"], change.payload["tags_before"]) == (["new"], ["old"])


def test_the_tags_of_the_new_text_are_indexed_and_the_old_ones_are_not(people, me, drain):
    post = me.post(STATUSES, {"status": "#old #both"}).json()["id"]
    drain()
    edit(me, post, "#new #both")
    pages = ("new", "both", "old?any[]=new", "old", "old?min_id=1")
    before = {page: ids_of(me.get(f"/api/v1/timelines/tag/{page}")) for page in pages}
    assert before == {page: [] if page in pages[3:] else [post] for page in pages}
    drain()
    found = {tag: ids_of(me.get(f"/api/v1/timelines/tag/{tag}")) for tag in ("old", "new", "both")}
    assert found == {"old": [], "new": [post], "both": [post]}


def test_a_tag_that_an_edit_took_away_stays_away(me, drain):
    """Also if a drain was paused before it wrote to the index."""
    post = me.post(STATUSES, {"status": "#tea"}).json()["id"]
    edit(me, post, "no tag")
    drain()
    index_posts({PostId.from_public(post): ["tea"]})
    assert ids_of(me.get("/api/v1/timelines/tag/tea")) == []


def test_bookmarks_are_kept(people, you, me, original):
    do(you, "bookmark", original)
    edit(me, original, "again")
    (shown,) = you.get("/api/v1/bookmarks").json()
    assert (shown["content"], shown["bookmarked"]) == ("<p>again</p>", True)
