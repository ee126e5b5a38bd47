"""A follow of some languages: home and lists show its posts of these, from the next read on."""

import pytest

from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.repost import repost
from posts.types import Draft
from relations.actions.follow import approve_request, follow, unfollow
from relations.jobs.repair import mirror_again
from relations.queries.edges import get_backward_edge
from tests.callers import Caller, ids_of
from tests.integration.timelines.catching_up import mark, read_all
from tests.truth import assert_drained_truth
from tests.world import drain_all, make_accounts

HOME = "/api/v1/timelines/home"


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
        return {ids[i] for i in ids_of(self.get(HOME))}


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
    assert ids_of(reader.get(HOME))[0] == shown.public


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
