"""Accounts that a post names hear of its edits and its end in their own stream, once each."""

import pytest

from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.types import Draft, Visibility
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.callers import Caller
from tests.delivered import deliver_all
from tests.integration.streaming.listening import events_before, publish_marker
from tests.integration.streaming.test_notified import name_of
from tests.world import make_accounts

ALL = list(Visibility)
NAMES = ("author", "named", "named_follower", "follower", "stranger")


class Scene:
    """People who all follow a friend, whose marker ends what they hear."""

    def __init__(self, site):
        self.site = site
        accounts = make_accounts(len(NAMES))
        self.accounts = dict(zip(NAMES, accounts, strict=True))
        # Changes of one shard are heard in their order.
        same = (account for account in make_accounts(8) if shard_of(account) == self.shard)
        self.friend = next(same)
        for account in accounts:
            follow(account, self.friend)
        for name in ("named_follower", "follower"):
            follow(self.accounts[name], self.accounts["author"])
        deliver_all()

    @property
    def shard(self):
        return shard_of(self.accounts["author"])

    def text(self, words, *names):
        return " ".join([*(f"@{name_of(self.accounts[name])}" for name in names), words])

    def publish(self, visibility, *names):
        draft = Draft(self.text("hello", *names), visibility=visibility)
        post_id = create_post(self.accounts["author"], draft)
        deliver_all()
        return post_id

    def edit(self, post_id, text):
        path = f"/api/v1/statuses/{post_id.public}"
        answer = Caller(self.accounts["author"]).client.put(
            path, {"status": text}, "application/json"
        )
        assert answer.status_code == 200, answer.content

    def hear(self, act, *events):
        """The accounts whose own streams have the post, and how often."""
        clients = {name: self.site.listen(i) for name, i in self.accounts.items()}
        act()
        deliver_all()
        marker = publish_marker(self.site, self.friend, *clients.values())
        heard = {name: events_before(client, marker) for name, client in clients.items()}
        return {
            name: len(told)
            for name, several in heard.items()
            if (told := [event for event, _ in several if event in events])
        }


@pytest.fixture
def scene(site, world):
    return Scene(site)


def expected(visibility):
    others = {} if visibility is Visibility.DIRECT else {"follower": 1}
    return {"author": 1, "named": 1, "named_follower": 1} | others


@pytest.mark.parametrize("visibility", ALL)
def test_an_edit_is_told_to_whom_the_post_names(scene, visibility):
    names = ("named", "named_follower")
    post_id = scene.publish(visibility, *names)
    text = scene.text("hello again", *names)
    told = scene.hear(lambda: scene.edit(post_id, text), "status.update", "delete")
    assert told == expected(visibility)


@pytest.mark.parametrize("visibility", ALL)
def test_an_end_is_told_to_whom_the_post_names(scene, visibility):
    post_id = scene.publish(visibility, "named", "named_follower")
    told = scene.hear(lambda: delete_post(post_id), "delete")
    assert told == expected(visibility)


@pytest.mark.parametrize("visibility", ALL)
def test_who_is_named_no_more_hears_of_it_while_the_post_is_for_them(scene, visibility):
    post_id = scene.publish(visibility, "named", "named_follower")
    told = scene.hear(lambda: scene.edit(post_id, "for no one"), "status.update", "delete")
    is_open = visibility in (Visibility.PUBLIC, Visibility.UNLISTED)
    assert told.get("named", 0) == int(is_open)
    assert told.get("named_follower", 0) == int(visibility is not Visibility.DIRECT)


@pytest.mark.parametrize("end", [mute, block])
@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.DIRECT])
def test_who_hides_the_author_hears_of_no_edit(scene, visibility, end):
    post_id = scene.publish(visibility, "named")
    end(scene.accounts["named"], scene.accounts["author"])
    deliver_all()
    text = scene.text("hello again", "named")
    told = scene.hear(lambda: scene.edit(post_id, text), "status.update", "delete")
    assert "named" not in told
