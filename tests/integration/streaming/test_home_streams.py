"""What the stream of a home timeline tells, and to whom: the same rules as on the page."""

import json

import pytest

from accounts.actions.update_profile import update_profile
from accounts.models import Account
from accounts.types import ProfileEdit
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.repost import repost
from posts.types import Draft, Visibility
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.types import FollowOptions
from tests.callers import Caller
from tests.delivered import deliver_all
from tests.integration.streaming.listening import events_before, publish_marker
from tests.waiting import until
from tests.world import NOW, make_accounts, publish
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind


@pytest.fixture
def people(world):
    """I follow the author and a friend; a stranger follows no account."""
    me, author, friend, stranger = make_accounts(4)
    follow(me, author)
    follow(me, friend)
    deliver_all()
    return me, author, friend, stranger


def test_followers_and_the_author_hear_of_a_post(site, people):
    me, author, _, stranger = people
    mine, own, other = (site.listen(account) for account in (me, author, stranger))
    post_id = publish(author, "news").public
    deliver_all()
    for client in (mine, own):
        [heard] = client.hear("update")
        assert heard.post_id == post_id and "news" in heard.payload
    publish_marker(site, stranger, other)
    assert [heard.event for heard in other.heard] == ["update"]


def test_the_message_has_the_post_as_the_page_shows_it(site, people):
    me, author, _, _ = people
    client = site.listen(me)
    post_id = publish(author, "**news** & more")
    deliver_all()
    [heard] = client.hear("update")
    [shown] = Caller(me).client.get("/api/v1/timelines/home").json()
    assert heard.post_id == shown["id"] == post_id.public
    assert json.loads(heard.payload) == shown


@pytest.mark.parametrize("visibility", [Visibility.UNLISTED, Visibility.PRIVATE])
def test_followers_hear_of_posts_for_them(site, people, visibility):
    me, author, _, _ = people
    client = site.listen(me)
    create_post(author, Draft("for followers", visibility=visibility))
    deliver_all()
    client.hear("update")


def test_a_hot_authors_followers_hear_of_a_post(site, people, settings):
    settings.INLINE_FOLLOWERS, settings.HOT_FOLLOWERS = 0, 1
    me, author, _, _ = people
    client = site.listen(me)
    publish(author)
    deliver_all()
    client.hear("update")


@pytest.mark.parametrize("act", [block, mute, unfollow])
def test_what_ends_a_relation_ends_its_messages_at_once(site, people, act):
    me, author, friend, _ = people
    client = site.listen(me)
    act(me, author)
    publish(author, "must not be heard")
    marker = publish_marker(site, friend, client)
    assert events_before(client, marker) == []


def test_members_of_exclusive_lists_are_heard_on_the_list_only(site, people):
    me, author, friend, _ = people
    made = create_account_list(me, "apart", exclusive=True)
    home, on_list = site.listen(me), site.listen(me, "list", list=str(made.list_id))
    add_members(me, made.list_id, [author])
    publish(author, "only on the list")
    marker = publish_marker(site, friend, home)
    assert events_before(home, marker) == []
    on_list.hear("update")


def test_who_is_blocked_hears_nothing_more(site, people):
    me, author, friend, _ = people
    client = site.listen(me)
    block(author, me)
    publish(author, "must not be heard")
    marker = publish_marker(site, friend, client)
    assert events_before(client, marker) == []


def test_a_new_follow_is_heard_in_an_open_stream(site, people):
    me, _, _, stranger = people
    client = site.listen(me)
    follow(me, stranger)
    deliver_all()
    site.catch_up()
    publish(stranger)
    deliver_all()
    client.hear("update")


def test_reposts_are_heard_unless_they_are_hidden(site, people):
    me, author, friend, stranger = people
    original = publish(stranger)
    client = site.listen(me)
    follow(me, friend, FollowOptions(reposts=False))
    hidden = repost(friend, original)
    shown = repost(author, original)
    marker = publish_marker(site, author, client)
    told = events_before(client, marker)
    assert told == [("update", shown.public)] and hidden.public not in client.text


def test_a_repost_of_a_muted_author_is_not_heard(site, people):
    me, author, friend, stranger = people
    original = publish(stranger)
    client = site.listen(me)
    mute(me, stranger)
    repost(author, original)
    marker = publish_marker(site, friend, client)
    assert events_before(client, marker) == []


def test_edits_and_deletions_are_heard(site, people):
    me, author, _, _ = people
    post_id = publish(author)
    deliver_all()
    client = site.listen(me)
    caller = Caller(author)
    answer = caller.client.put(
        f"/api/v1/statuses/{post_id.public}", {"status": "edited"}, "application/json"
    )
    assert answer.status_code == 200
    deliver_all()
    [heard] = client.hear("status.update")
    assert "edited" in heard.payload
    delete_post(post_id)
    deliver_all()
    assert client.hear("status.update", "delete")[1].payload == post_id.public


def test_an_undone_repost_is_heard_as_a_deletion(site, people):
    me, author, _, stranger = people
    original = publish(stranger)
    event = repost(author, original)
    deliver_all()
    client = site.listen(me)
    Caller(author).post(f"/api/v1/statuses/{original.public}/unreblog")
    deliver_all()
    assert client.hear("delete")[0].payload == event.public


def test_a_post_that_is_deleted_at_once_is_not_shown(site, people):
    me, author, _, _ = people
    client = site.listen(me)
    post_id = publish(author, "gone")
    delete_post(post_id)
    marker = publish_marker(site, author, client)
    assert events_before(client, marker) == [("delete", post_id.public)]


def test_filters_are_applied_and_their_change_is_heard(site, people):
    me, author, _, _ = people
    client = site.listen(me)
    answer = Caller(me).post(
        "/api/v2/filters",
        {
            "title": "no cats",
            "context": ["home"],
            "filter_action": "warn",
            "keywords_attributes": [{"keyword": "cats", "whole_word": False}],
        },
    )
    assert answer.status_code == 200
    deliver_all()
    client.hear("filters_changed")
    publish(author, "cats again")
    deliver_all()
    heard = client.hear("filters_changed", "update")[1]
    assert "no cats" in heard.payload


def test_the_second_connection_of_an_account_hears_the_same(site, people):
    me, author, _, _ = people
    first, second = site.listen(me), site.listen(me)
    publish(author)
    deliver_all()
    assert first.hear("update") == second.hear("update")
    first.leave()
    publish(author)
    deliver_all()
    second.hear("update", "update")


def test_posts_with_home_tags_are_heard_from_the_choice_on(site, people):
    me, _, _, stranger = people
    client = site.listen(me)
    publish(stranger, "#tea, must not be heard")
    deliver_all()
    site.catch_up()
    add_own_tag(me, TagListKind.FOLLOWED, "Tea")
    choose_at_home(me, True)
    deliver_all()
    site.catch_up()
    heard_id = publish(stranger, "#tea").public
    publish(stranger, "no tag, must not be heard")
    create_post(stranger, Draft("#tea, must not be heard", visibility=Visibility.UNLISTED))
    deliver_all()
    site.catch_up()
    late = site.listen(me)
    last_id = publish(stranger, "#tea again").public
    deliver_all()
    client.hear("update", "update")
    late.hear("update")
    assert [heard.post_id for heard in client.heard] == [heard_id, last_id]
    assert [heard.post_id for heard in late.heard] == [last_id]


def test_posts_with_home_tags_of_muted_accounts_are_not_heard(site, people):
    me, author, _, stranger = people
    add_own_tag(me, TagListKind.FOLLOWED, "tea")
    choose_at_home(me, True)
    deliver_all()
    client = site.listen(me)
    mute(me, stranger)
    publish(stranger, "#tea, must not be heard")
    choose_at_home(me, False)
    (other,) = make_accounts(1)
    publish(other, "#tea, must not be heard")
    marker = publish_marker(site, author, client)
    assert events_before(client, marker) == []


def test_a_hidden_post_with_a_home_tag_is_heard_as_gone(site, people):
    me, _, _, stranger = people
    add_own_tag(me, TagListKind.FOLLOWED, "tea")
    choose_at_home(me, True)
    post_id, private = publish(stranger, "#tea"), _private(stranger)
    deliver_all()
    client = site.listen(me)
    hide_post(private, NOW, 1)
    hide_post(post_id, NOW, 1)
    deliver_all()
    assert client.hear("delete")[0].payload == post_id.public
    hide_post(post_id, None, 2)
    deliver_all()
    [_, heard] = client.hear("delete", "status.update")
    assert heard.post_id == post_id.public


def _private(author):
    return create_post(author, Draft("#tea", visibility=Visibility.PRIVATE))


def test_replies_are_heard_as_home_shows_them(site, people):
    """By the choice and the follows of now."""
    me, author, friend, stranger = people
    theirs, friends = publish(stranger), publish(friend)
    deliver_all()
    client = site.listen(me)

    def reply(parent):
        post = create_post(author, Draft("answer", in_reply_to=parent, thread=parent)).public
        _await_marker(author, client)
        return post

    heard = [reply(friends)]
    reply(theirs)
    update_profile(me, ProfileEdit(home_replies="all"))
    heard.append(reply(theirs))
    update_profile(me, ProfileEdit(home_replies="none"))
    reply(friends)
    update_profile(me, ProfileEdit(home_replies="followed"))
    follow(me, stranger)
    heard.append(reply(theirs))
    assert [each.post_id for each in client.heard if "marker" not in each.payload] == heard


@pytest.mark.parametrize(("begin", "end"), [(block, unblock), (mute, unmute)])
def test_posts_that_mention_whom_i_block_or_mute_are_not_heard(site, people, begin, end):
    me, author, friend, stranger = people
    list_id = create_account_list(me, "friends").list_id
    add_members(me, list_id, [author])
    deliver_all()
    name = name_of(stranger)
    clients = site.listen(me), site.listen(me, "list", list=str(list_id))
    begin(me, stranger)
    publish(author, f"see @{name}")
    repost(author, publish(friend, f"@{name}, look"))
    _await_marker(author, *clients)
    end(me, stranger)
    last = publish(author, f"see @{name} now").public
    _await_marker(author, *clients)
    for client in clients:
        shown = [each.post_id for each in client.heard if "marker" not in each.payload]
        assert shown == [last]


def _await_marker(author, *clients):
    """Until they have heard all that was published: the rules of then were asked."""
    deliver_all()  # else a repost may come after the marker
    post_id = publish(author, "marker").public
    deliver_all()
    for client in clients:
        until(lambda client=client: any(each.post_id == post_id for each in client.heard))


def name_of(account_id):
    return Account.objects.on(shard_of(account_id)).get(id=account_id).username
