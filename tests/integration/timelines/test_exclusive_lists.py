"""What members of an exclusive list post is on the list, and not at home: at the next read.

A follow of some languages: home and lists show its posts of these, from the next read on.
"""

import pytest

from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.repost import repost
from posts.types import Draft
from relations.actions.follow import approve_request, follow, unfollow
from relations.jobs.repair import mirror_again
from relations.queries.edges import get_backward_edge
from tests.callers import Caller, ids_of
from tests.integration.timelines.catching_up import mark, read_all
from tests.loaded_process import run_loaded
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts, publish

HOME, LISTS = "/api/v1/timelines/home", "/api/v1/lists"
KILLED = """
import os, signal, sys
import django
django.setup()
from infra.changes.failpoints import arm
from relations.lists.actions.lists import change_account_list
from relations.lists.types import ListOptions
arm("changes.committed", lambda: os.kill(os.getpid(), signal.SIGKILL))
owner, list_id, exclusive = map(int, sys.argv[1:])
change_account_list(owner, list_id, ListOptions(exclusive=bool(exclusive)))
"""


class Owner(Caller):
    """I follow a loud and a calm account. The loud one is on a list. Each has one post."""

    def __init__(self):
        self.me, self.loud, self.calm, self.stranger = make_accounts(4)
        super().__init__(self.me)
        for followee in (self.loud, self.calm):
            follow(self.me, followee)
        self.list_id = self.post(LISTS, {"title": "loud"}).json()["id"]
        self.path = f"{LISTS}/{self.list_id}"
        assert self.add(self.loud).status_code == 200
        self.first, self.other = publish(self.loud).public, publish(self.calm).public

    def add(self, account_id):
        return self.post(f"{self.path}/accounts", {"account_ids": [str(account_id)]})

    def remove(self, account_id):
        return self.delete(f"{self.path}/accounts?account_ids[]={account_id}")

    def be_exclusive(self, exclusive=True):
        answer = self.client.put(self.path, {"exclusive": exclusive}, "application/json")
        assert (answer.status_code, answer.json()["exclusive"]) == (200, exclusive)
        assert self.get(self.path).json()["exclusive"] is exclusive

    @property
    def home(self):
        return ids_of(self.get(HOME))

    @property
    def on_list(self):
        return ids_of(self.get(f"/api/v1/timelines/list/{self.list_id}"))


@pytest.fixture
def owner(world):
    owner = Owner()
    drain_all()
    assert owner.home == [owner.other, owner.first]
    return owner


def test_set_and_unset_take_effect_at_the_next_read(owner):
    for _ in range(2):
        owner.be_exclusive()
        assert (owner.home, owner.on_list) == ([owner.other], [owner.first])
        owner.be_exclusive(False)
        assert (owner.home, owner.on_list) == (
            [owner.other, owner.first],
            [owner.first],
        )


def test_without_redis_and_by_pull_it_is_the_same(owner):
    owner.be_exclusive()
    redis().call("FLUSHDB")
    assert owner.home == [owner.other]
    new = publish(owner.loud).public
    drain_all()
    assert (owner.home, owner.on_list) == ([owner.other], [new, owner.first])


def test_members_come_and_go(owner):
    owner.be_exclusive()
    assert owner.add(owner.calm).status_code == 200
    assert owner.home == []
    assert owner.remove(owner.loud).status_code == 200
    assert owner.home == [owner.first]
    assert owner.delete(owner.path).status_code == 200
    assert owner.home == [owner.other, owner.first]


def test_a_list_may_be_exclusive_from_the_start(owner):
    made = owner.post(LISTS, {"title": "own", "exclusive": "true"}).json()
    assert made["exclusive"] is True
    owner.post(f"{LISTS}/{made['id']}/accounts", {"account_ids": [str(owner.calm)]})
    assert owner.home == [owner.first]


def test_an_account_on_two_lists_stays_away_until_no_exclusive_one_has_it(owner):
    made = owner.post(LISTS, {"title": "own", "exclusive": True}).json()["id"]
    owner.post(f"{LISTS}/{made}/accounts", {"account_ids": [str(owner.loud)]})
    owner.be_exclusive()
    owner.be_exclusive(False)
    assert owner.home == [owner.other]
    owner.delete(f"{LISTS}/{made}")
    assert owner.home == [owner.other, owner.first]


def test_reposts_by_members_are_away_and_reposts_of_them_are_not(owner):
    owner.be_exclusive()
    repost(owner.loud, publish(owner.stranger))
    shown = repost(owner.calm, publish(owner.loud))
    drain_all()
    assert owner.home == [shown.public, owner.other]


def test_a_new_follow_does_not_bring_the_membership_back(owner):
    owner.be_exclusive()
    unfollow(owner.me, owner.loud)
    follow(owner.me, owner.loud)
    assert owner.home == [owner.other, owner.first]
    assert owner.on_list == []


def test_my_own_account_cannot_be_hidden(owner):
    owner.be_exclusive()
    assert owner.add(owner.me).status_code == 404, "not followed"
    mine = publish(owner.me).public
    assert set(owner.home) == {mine, owner.other}


def test_catch_up_and_unread_leave_members_out(owner):
    mark(owner, owner.other)
    owner.be_exclusive()
    publish(owner.loud)
    new = publish(owner.calm).public
    drain_all()
    assert read_all(owner).ids == [new]
    assert owner.get("/api/v1/markers?timeline[]=home").json()["home"]["unread_count"] == 1


def test_a_killed_change_is_finished_by_its_repetition_and_by_the_drain(owner):
    for exclusive, shown in ((1, [owner.other]), (0, [owner.other, owner.first])):
        run_loaded("-c", KILLED, str(owner.me), owner.list_id, str(exclusive))
        owner.be_exclusive(bool(exclusive))
        assert owner.home == shown
    run_loaded("-c", KILLED, str(owner.me), owner.list_id, "1")
    drain_all()
    assert owner.home == [owner.other]


@pytest.mark.parametrize("sent", ["maybe", 3, [True]])
def test_other_values_are_refused(owner, sent):
    answer = owner.client.put(owner.path, {"exclusive": sent}, "application/json")
    assert answer.status_code == 422
    assert owner.get(owner.path).json()["exclusive"] is False


OF_READER = "/api/v1/timelines/home"


class Reader(Caller):
    """I follow an author with a post in each language, and one without."""

    def __init__(self):
        self.me, self.author, self.stranger = make_accounts(3)
        super().__init__(self.me)
        follow(self.me, self.author)
        languages = ("en", "en-GB", "de", None)
        self.posts = {code: self.write(self.author, code) for code in languages}

    def write(self, author, code):
        return create_post(author, Draft(f"in {code}", language=code)).public

    def follow(self, **options):
        answer = self.post(f"/api/v1/accounts/{self.author}/follow", options)
        assert answer.status_code == 200, answer.content
        [shown] = self.get(f"/api/v1/accounts/relationships?id={self.author}").json()
        assert shown == answer.json()
        return shown["languages"]

    @property
    def home(self):
        ids = {post_id: code for code, post_id in self.posts.items()}
        return {ids[i] for i in ids_of(self.get(OF_READER))}


@pytest.fixture
def reader(world):
    reader = Reader()
    drain_all()
    assert reader.home == {"en", "en-GB", "de", None}
    return reader


@pytest.mark.parametrize(
    ("languages", "shown"),
    [
        (["en"], {"en", "en-GB", None}),
        (["EN-gb"], {"en-GB", None}),
        (["de", "fr"], {"de", None}),
        (["fr"], {None}),
    ],
)
def test_posts_of_other_languages_are_away_at_once_and_come_back(reader, languages, shown):
    assert reader.follow(languages=languages) == languages
    assert reader.home == shown
    assert reader.follow(notify=True) == languages, "what is not sent stays"
    assert reader.follow(languages=[]) is None
    assert reader.home == {"en", "en-GB", "de", None}
    drain_all()
    assert_drained_truth()


def test_lists_catch_up_and_unread_know_it_too(reader):
    list_id = reader.post("/api/v1/lists", {"title": "one"}).json()["id"]
    reader.post(f"/api/v1/lists/{list_id}/accounts", {"account_ids": [str(reader.author)]})
    mark(reader, reader.posts[None])
    reader.follow(languages=["de"])
    new = [reader.write(reader.author, code) for code in ("en", "de")]
    drain_all()
    assert ids_of(reader.get(f"/api/v1/timelines/list/{list_id}"))[0] == new[1]
    assert read_all(reader).ids == [new[1]]
    assert reader.get("/api/v1/markers?timeline[]=home").json()["home"]["unread_count"] == 1


def test_reposts_are_of_no_language(reader):
    reader.follow(languages=["fr"])
    shown = repost(reader.author, create_post(reader.stranger, Draft("x", language="de")))
    drain_all()
    assert ids_of(reader.get(OF_READER))[0] == shown.public


def test_the_choice_ends_with_the_follow(reader):
    reader.follow(languages=["fr"])
    unfollow(reader.me, reader.author)
    assert reader.follow() is None
    assert reader.home == {"en", "en-GB", "de", None}


def test_a_request_keeps_it_when_it_is_approved(reader):
    unfollow(reader.me, reader.author)
    profile = "/api/v1/accounts/update_credentials"
    author = Caller(reader.author).client
    assert author.patch(profile, {"locked": True}, "application/json").status_code == 200
    assert reader.follow(languages=["de"]) == ["de"]
    approve_request(reader.author, reader.me)
    assert reader.follow() == ["de"]
    assert reader.home == {"de", None}


def test_repairs_of_the_other_side_keep_it(reader):
    reader.follow(languages=["de"])
    drain_all()
    pair = reader.me, reader.author
    mirror_again(pair, get_backward_edge(shard_of(pair[1]), *pair).revision)
    drain_all()
    assert reader.follow() == ["de"]
