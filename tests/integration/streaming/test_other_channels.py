"""The streams besides home: public, tags, lists, conversations and notifications."""

import json

import pytest

from moderation.types import DecisionKind
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.callers import Caller, ids_of
from tests.delivered import deliver_all
from tests.integration.images.uploading import publish as publish_images
from tests.integration.images.uploading import put, sent
from tests.integration.streaming.listening import events_before, publish_marker
from tests.people import decide_on
from tests.waiting import until
from tests.world import make_account, make_accounts, publish
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind


@pytest.fixture
def people(world):
    return make_accounts(3)


def post_of(heard):
    return json.loads(heard.payload)["id"]


@pytest.mark.parametrize("path", ["public", "public/local"])
def test_the_public_stream_has_public_posts_only(site, people, path):
    me, author, other = people
    client = site.listen(me, path)
    original = publish(author, "public")
    create_post(author, Draft("unlisted", visibility=Visibility.UNLISTED))
    create_post(other, Draft("reply", in_reply_to=original))
    repost(other, original)
    last = publish(other)
    marker = publish_marker(site, author, client)
    until(lambda: last.public in {post_of(heard) for heard in client.heard})
    assert {post_of(heard) for heard in client.heard} == {original.public, last.public, marker}


def test_the_stream_of_other_sites_is_quiet(site, people):
    me, author, _ = people
    remote, public = site.listen(me, "public/remote"), site.listen(me, "public")
    publish_marker(site, author, public)
    assert remote.heard == []


def test_the_media_stream_needs_images(site, people):
    me, author, _ = people
    media = site.listen(me, "public", only_media="true")
    public = site.listen(me, "public")
    publish_marker(site, author, public)
    assert media.heard == []


@pytest.mark.parametrize("path", ["public", "public/local"])
def test_a_post_that_loses_its_images_is_gone_from_media_streams(site, people, path):
    me, author, _ = people
    caller, blocked = Caller(author), make_account()
    block(author, blocked)
    post, kept = (publish_images(caller, [sent(caller)], text) for text in ("photo", "other"))
    deliver_all()
    media, public = (site.listen(me, path, **only) for only in ({"only_media": "true"}, {}))
    unseen = site.listen(blocked, path, only_media="true")
    put(caller, f"/api/v1/statuses/{post['id']}", status="no photo", media_ids=[])
    ids = [image["id"] for image in kept["media_attachments"]]
    put(caller, f"/api/v1/statuses/{kept['id']}", status="changed", media_ids=ids)
    put(caller, f"/api/v1/statuses/{post['id']}", status="no photo again")
    deliver_all()
    marker = publish_marker(site, author, public)
    until(lambda: len(media.heard) >= 2, said=lambda: media.text)
    assert [(h.event, h.post_id) for h in media.heard] == [
        ("delete", post["id"]),
        ("status.update", kept["id"]),
    ]
    assert [event for event, _ in events_before(public, marker)] == ["status.update"] * 3
    assert unseen.heard == []


@pytest.mark.parametrize("path", ["hashtag", "hashtag/local"])
def test_a_tag_stream_has_public_posts_with_the_tag(site, people, path):
    me, author, _ = people
    client = site.listen(me, path, tag="Cats")
    tagged = publish(author, "a #cats post")
    publish(author, "a #dogs post")
    create_post(author, Draft("#cats", visibility=Visibility.UNLISTED))
    last = publish(author, "#CATS")
    deliver_all()
    assert [post_of(h) for h in client.hear("update", "update")] == [tagged.public, last.public]


def test_a_tag_stream_hears_edits_and_deletions(site, people):
    me, author, _ = people
    post_id = publish(author, "#cats")
    deliver_all()
    client = site.listen(me, "hashtag", tag="cats")
    Caller(author).client.put(
        f"/api/v1/statuses/{post_id.public}", {"status": "#cats again"}, "application/json"
    )
    deliver_all()
    client.hear("status.update")
    delete_post(post_id)
    deliver_all()
    client.hear("status.update", "delete")


def test_a_post_that_loses_a_tag_is_gone_from_its_streams(site, people):
    me, author, stranger = people
    follow(me, author)
    add_own_tag(me, TagListKind.FOLLOWED, "cats")
    choose_at_home(me, True)
    blocked = make_account()
    block(author, blocked)
    post_id, other = publish(author, "#cats #dogs"), publish(stranger, "#cats")
    deliver_all()
    cats, dogs = (site.listen(me, "hashtag", tag=tag) for tag in ("cats", "dogs"))
    home, unseen = site.listen(me), site.listen(blocked, "hashtag", tag="cats")
    for who, post, text in ((author, post_id, "#dogs"), (stranger, other, "no tag")):
        path = f"/api/v1/statuses/{post.public}"
        Caller(who).client.put(path, {"status": text}, "application/json")
    deliver_all()
    assert {h.payload for h in cats.hear("delete", "delete")} == {post_id.public, other.public}
    dogs.hear("status.update")
    until(lambda: len(home.heard) == 2)
    assert {h.event: h.post_id for h in home.heard} == {
        "status.update": post_id.public,
        "delete": other.public,
    }
    assert [h.payload for h in unseen.hear("delete")] == [other.public]


def test_a_list_stream_has_its_members_by_its_policy(site, people):
    me, member, other = people
    follow(me, member)
    follow(me, other)
    deliver_all()
    caller = Caller(me)
    list_id = caller.post("/api/v1/lists", {"title": "a", "replies_policy": "none"}).json()["id"]
    client = site.listen(me, "list", list=list_id)
    caller.post(f"/api/v1/lists/{list_id}/accounts", {"account_ids": [str(member)]})
    publish(other, "not a member")
    create_post(member, Draft("a reply", in_reply_to=publish(other)))
    post_id = publish(member)
    deliver_all()
    [heard] = client.hear("update")
    assert post_of(heard) == post_id.public


def test_a_list_of_another_account_is_not_found(site, people):
    me, other, _ = people
    list_id = Caller(other).post("/api/v1/lists", {"title": "a"}).json()["id"]
    assert site.listen(me, "list", list=list_id).status == 404


def test_direct_posts_are_heard_as_conversations(site, people):
    me, author, _ = people
    follow(me, author)
    deliver_all()
    name = Caller(me).get("/api/v1/accounts/verify_credentials").json()["username"]
    mine, home = site.listen(me, "direct"), site.listen(me)
    answer = Caller(author).post(
        "/api/v1/statuses", {"status": f"@{name} hello", "visibility": "direct"}
    )
    assert answer.status_code == 200
    deliver_all()
    [heard] = mine.hear("conversation")
    conversation = json.loads(heard.payload)
    assert conversation["unread"] and "hello" in conversation["last_status"]["content"]
    [heard] = home.hear("notification")
    assert json.loads(heard.payload)["type"] == "mention"


@pytest.mark.parametrize("path", ["user", "user/notification"])
def test_notifications_are_heard(site, people, path):
    me, other, _ = people
    post_id = publish(me)
    deliver_all()
    client = site.listen(me, path)
    mark_post(other, post_id, Kind.FAVOURITE, True)
    deliver_all()
    follow(other, me)
    deliver_all()
    repost(other, post_id)
    deliver_all()
    heard = client.hear("notification", "notification", "notification")
    assert [json.loads(h.payload)["type"] for h in heard] == ["favourite", "follow", "reblog"]
    assert [post_of(h) for h in heard] == ids_of(Caller(me).get("/api/v1/notifications"))[::-1]


def test_notifications_that_the_list_leaves_out_are_not_heard(site, people):
    me, muted, other = people
    post_id = publish(me)
    mute(me, muted)
    deliver_all()
    client = site.listen(me)
    mark_post(muted, post_id, Kind.FAVOURITE, True)
    deliver_all()
    mark_post(other, post_id, Kind.FAVOURITE, True)
    deliver_all()
    [heard] = client.hear("notification")
    assert json.loads(heard.payload)["account"]["id"] == str(other)


def test_who_asked_for_it_is_notified_of_posts(site, people):
    me, author, _ = people
    follow(me, author, FollowOptions(notify=True))
    deliver_all()
    client = site.listen(me, "user/notification")
    publish(author)
    deliver_all()
    [heard] = client.hear("notification")
    assert json.loads(heard.payload)["type"] == "status"


def test_a_token_without_the_scope_hears_of_no_notification(site, people):
    me, author, other = people
    follow(me, author)
    post_id = publish(me)
    deliver_all()
    client = site.listen(me, scope="read:statuses")
    mark_post(other, post_id, Kind.FAVOURITE, True)
    marker = publish_marker(site, author, client)
    assert events_before(client, marker) == []


def test_a_hidden_post_is_gone_and_one_shown_again_is_back(site, people):
    me, author, _ = people
    follow(me, author)
    post_id = publish(author)
    deliver_all()
    home, public = site.listen(me), site.listen(me, "public")
    decide_on(post_id, DecisionKind.HIDE)
    deliver_all()
    for client in (home, public):
        assert client.hear("delete")[0].payload == post_id.public
    decide_on(post_id, DecisionKind.SHOW)
    deliver_all()
    for client in (home, public):
        client.hear("delete", "status.update")


@pytest.mark.parametrize(
    ("visibility", "told"),
    [(Visibility.UNLISTED, 1), (Visibility.PRIVATE, 1), (Visibility.DIRECT, 0)],
)
def test_moderation_names_a_post_only_to_those_who_may_have_seen_it(site, people, visibility, told):
    """Its id has its author and its second."""
    me, author, _ = people
    follow(me, author)
    post_id = create_post(author, Draft("#cats", visibility=visibility))
    deliver_all()
    home = site.listen(me)
    others = [site.listen(me, "public"), site.listen(me, "hashtag", tag="cats")]
    for kind in (DecisionKind.HIDE, DecisionKind.SHOW):
        decide_on(post_id, kind)
        deliver_all()
    publish(author, "#cats")
    publish_marker(site, author, home, others[0])
    until(lambda: others[1].heard)
    assert len([heard for heard in home.heard if heard.post_id == post_id.public]) == 2 * told
    assert not any(post_id.public in client.text for client in others)


def test_an_account_that_begins_hears_of_nothing_before(site, people):
    author = people[1]
    publish(author)
    deliver_all()
    me = make_account()
    follow(me, author)
    deliver_all()
    client = site.listen(me)
    marker = publish_marker(site, author, client)
    assert events_before(client, marker) == []
