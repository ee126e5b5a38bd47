"""Public, unlisted, private and direct posts on every route, for every kind of viewer."""

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from counters.jobs.drifting_counts import recount_counters
from infra.jobs.types import Work
from posts.actions.create_post import create_post
from posts.cache import newest
from posts.types import Draft, Visibility
from relations.actions.block import block
from relations.actions.follow import follow, unfollow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.world import drain_all, find_live, make_account, publish
from timelines.increments import consumers

pytestmark = pytest.mark.redis("single", "cluster")

WORDS = ("public", "unlisted", "private", "direct")
P, U, V, D = WORDS
VIEWERS = ("author", "follower", "mentioned", "stranger", "guest", "blocked")
MAY_SEE = {
    "author": {P, U, V, D},
    "follower": {P, U, V},
    "mentioned": {P, U, V, D},
    "stranger": {P, U},
    "guest": {P, U},
    "blocked": set(),
}
ON_PAGE = MAY_SEE | {"mentioned": {P, U}}
AT_HOME = {"author": {P, U, V}, "follower": {P, U, V}}
ON_PUBLIC = {viewer: seen & {P} for viewer, seen in MAY_SEE.items()}
NOTHING: set[str] = set()


class Guest:
    """The client of a viewer without a token."""

    def __init__(self) -> None:
        self.client = Client()

    def get(self, path: str, query: Any = None) -> Any:
        return self.client.get(path, query)


class Scene:
    """A post and a reply of each visibility. Texts name the author's word, so they can be found."""

    def __init__(self) -> None:
        self.ids = {name: make_account(name) for name in VIEWERS if name != "guest"}
        self.callers: dict[str, Any] = {name: Caller(i) for name, i in self.ids.items()}
        self.callers["guest"] = Guest()
        follow(self.ids["follower"], self.ids["author"])
        block(self.ids["author"], self.ids["blocked"])
        drain_all()
        self.posts = {word: self.post("author", word) for word in WORDS}
        root = self.posts[P]
        self.replies = {word: self.post("author", word, root, "answer") for word in WORDS}
        self.list_id = create_account_list(self.ids["follower"], "all").list_id
        add_members(self.ids["follower"], self.list_id, [self.ids["author"]])
        drain_all()

    def post(self, by: str, word: str, parent: str | None = None, kind: str = "post") -> str:
        text = f"{kind} {word}-words for @mentioned #closed"
        body = {"status": text, "visibility": word, "in_reply_to_id": parent}
        answer = self.callers[by].post("/api/v1/statuses", body)
        assert answer.status_code == 200, answer.content
        assert answer.json()["visibility"] == word
        return str(answer.json()["id"])

    def seen(self, viewer: str, path: str, kind: str = "post", query: Any = None) -> set[str]:
        """The words of the posts in an answer, also of an error."""
        content = self.callers[viewer].get(path, query).content
        return {word for word in WORDS if f"{kind} {word}-words".encode() in content}


@pytest.fixture
def scene(world: None) -> Scene:
    return Scene()


def test_each_viewer_sees_what_the_table_says_on_every_route(scene: Scene) -> None:
    """Twice: first the author's answers fill process memory, then all others'."""
    author = scene.ids["author"]
    lists = {
        f"/api/v1/accounts/{author}/statuses": ON_PAGE,
        "/api/v1/timelines/home": AT_HOME,
        "/api/v1/timelines/public": ON_PUBLIC,
        "/api/v1/timelines/tag/closed": ON_PUBLIC,
        "/api/v2/search?type=statuses&q=words": ON_PUBLIC | {"guest": NOTHING},
        "/api/v1/notifications": {"mentioned": {P, U, V}},  # the policy filters direct ones
        f"/api/v1/timelines/list/{scene.list_id}": {"follower": AT_HOME["follower"]},
    }
    for viewer in (*VIEWERS, *reversed(VIEWERS)):
        for path, table in lists.items():
            assert scene.seen(viewer, path) == table.get(viewer, NOTHING), (viewer, path)
        for word, post_id in scene.posts.items():
            expected = {word} & MAY_SEE[viewer]
            path = f"/api/v1/statuses/{post_id}"
            assert scene.seen(viewer, path) == expected, (viewer, word)
            for part in ("context", "favourited_by", "reblogged_by", "history"):
                status = scene.callers[viewer].get(f"{path}/{part}").status_code
                assert status == (200 if expected else 404), (viewer, word, part)
        many = {"id[]": list(scene.posts.values())}
        assert scene.seen(viewer, "/api/v1/statuses", query=many) == MAY_SEE[viewer]
        context = f"/api/v1/statuses/{scene.posts[P]}/context"
        assert scene.seen(viewer, context, "answer") == MAY_SEE[viewer], viewer


def test_pages_of_an_author_are_full_below_closed_posts(scene: Scene) -> None:
    for word in (V, D, V, D, V, D):
        scene.post("author", word)
    path = f"/api/v1/accounts/{scene.ids['author']}/statuses"
    for viewer in ("stranger", "guest", "mentioned"):
        first = scene.callers[viewer].get(path, {"limit": 1})
        second = scene.callers[viewer].get(path, {"limit": 3, "max_id": ids_of(first)[0]})
        found = [*ids_of(first), *ids_of(second)]
        assert found == [scene.replies[U], scene.replies[P], scene.posts[U], scene.posts[P]]


def test_counts_do_not_tell_of_closed_posts(scene: Scene) -> None:
    author = scene.callers["guest"].get(f"/api/v1/accounts/{scene.ids['author']}").json()
    assert author["statuses_count"] == 6, "without the direct ones"
    post = scene.callers["guest"].get(f"/api/v1/statuses/{scene.posts[P]}").json()
    assert post["replies_count"] == 2, "public and unlisted"
    for batch in recount_counters(Work(settings.SHARD_ALIASES)):
        assert not batch.changed, batch.lines
    for word in WORDS:
        scene.callers["author"].delete(f"/api/v1/statuses/{scene.replies[word]}")
    drain_all()
    author = scene.callers["guest"].get(f"/api/v1/accounts/{scene.ids['author']}").json()
    assert author["statuses_count"] == 3
    post = scene.callers["guest"].get(f"/api/v1/statuses/{scene.posts[P]}").json()
    assert post["replies_count"] == 0
    for batch in recount_counters(Work(settings.SHARD_ALIASES)):
        assert not batch.changed, batch.lines


REPOSTS = {
    "author": {P: 200, U: 200, V: 200, D: 403},
    "follower": {P: 200, U: 200, V: 403, D: 404},
    "mentioned": {P: 200, U: 200, V: 403, D: 403},
    "stranger": {P: 200, U: 200, V: 404, D: 404},
    "blocked": dict.fromkeys(WORDS, 404),
}


def test_interactions_need_a_post_that_the_viewer_sees(scene: Scene) -> None:
    for viewer, table in REPOSTS.items():
        for word, expected in table.items():
            caller, path = scene.callers[viewer], f"/api/v1/statuses/{scene.posts[word]}"
            answer = caller.post(f"{path}/reblog")
            assert answer.status_code == expected, (viewer, word)
            if expected == 200:
                own = V if word == V else P
                assert answer.json()["visibility"] == own
            is_seen = word in MAY_SEE[viewer]
            assert caller.post(f"{path}/favourite").status_code == (200 if is_seen else 404)
            assert caller.post(f"{path}/unbookmark").status_code == (200 if is_seen else 404)
            body = {"status": "x", "in_reply_to_id": scene.posts[word], "visibility": "direct"}
            reply = caller.post("/api/v1/statuses", body)
            assert reply.status_code == (200 if is_seen else 404)
    stranger = scene.callers["stranger"]
    path = f"/api/v1/statuses/{scene.posts[P]}"
    assert stranger.post(f"{path}/unreblog").status_code == 200
    unlisted = stranger.post(f"{path}/reblog", {"visibility": "unlisted"}).json()
    assert unlisted["visibility"] == "unlisted"
    for word in ("private", "direct", "mine", 5, ["public"]):
        answer = stranger.post(f"{path}/reblog", {"visibility": word})
        assert answer.status_code == 422, word
    assert stranger.post("/api/v1/statuses", {"status": "x", "visibility": 3}).status_code == 422


def test_a_repost_of_an_own_private_post_is_for_followers(scene: Scene) -> None:
    author = scene.callers["author"]
    event = author.post(f"/api/v1/statuses/{scene.posts[V]}/reblog").json()["id"]
    drain_all()
    assert event in ids_of(scene.callers["follower"].get("/api/v1/timelines/home"))
    path = f"/api/v1/accounts/{scene.ids['author']}/statuses"
    seen = {viewer: event in ids_of(scene.callers[viewer].get(path)) for viewer in VIEWERS}
    assert [viewer for viewer, is_seen in seen.items() if is_seen] == ["author", "follower"]
    for viewer in ("stranger", "mentioned", "guest"):
        assert scene.callers[viewer].get(f"/api/v1/statuses/{event}").status_code == 404
    reposters = f"/api/v1/statuses/{scene.posts[V]}/reblogged_by"
    assert scene.callers["follower"].get(reposters).json() == []


def test_marks_of_a_post_that_became_invisible(scene: Scene) -> None:
    fan, path = scene.callers["follower"], f"/api/v1/statuses/{scene.posts[V]}"
    for mark in ("favourite", "bookmark"):
        assert fan.post(f"{path}/{mark}").status_code == 200
    assert scene.seen("follower", "/api/v1/bookmarks") == {V}
    unfollow(scene.ids["follower"], scene.ids["author"])
    for kind in ("bookmarks", "favourites"):
        assert scene.seen("follower", f"/api/v1/{kind}") == NOTHING
    undone = fan.post(f"{path}/unfavourite")
    assert undone.status_code == 200
    assert b"words" not in undone.content
    assert undone.json()["mentions"] == []
    assert fan.post(f"{path}/unfavourite").status_code == 404
    assert scene.seen("follower", "/api/v1/timelines/home") == NOTHING


def test_pages_of_strangers_do_not_read_all_closed_posts(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest, "MOST_LISTED", 3)
    author, stranger = make_account("author"), Caller(make_account("stranger"))
    oldest = publish(author)
    for _ in range(30):
        create_post(author, Draft("closed", visibility=Visibility.PRIVATE))
    drain_all()
    path = f"/api/v1/accounts/{author}/statuses"
    assert ids_of(stranger.get(path, {"limit": 1})) == [oldest.public]
    with count_calls() as calls:
        stranger.get(path, {"limit": 1})
    assert calls.sql.total() <= 2


def test_a_post_without_a_visibility_has_the_default_of_its_author(world: None) -> None:
    me = Caller(make_account("author"))
    source = {"privacy": "private", "sensitive": True, "language": "de"}
    edit = "/api/v1/accounts/update_credentials"
    answer = me.client.patch(edit, {"source": source}, "application/json")
    assert answer.status_code == 200, answer.content
    post = me.post("/api/v1/statuses", {"status": "x"}).json()
    assert (post["visibility"], post["sensitive"], post["language"]) == ("private", True, "de")
    given = {"visibility": "public", "sensitive": False, "language": "en"}
    post = me.post("/api/v1/statuses", {"status": "x"} | given).json()
    assert (post["visibility"], post["sensitive"], post["language"]) == ("public", False, "en")


def test_a_direct_post_is_in_no_timeline_store_and_no_news(
    world: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    author, fan = make_account("author"), make_account("fan")
    follow(fan, author)
    me, reader = Caller(author), Caller(fan)
    publish(author, "open")
    drain_all()
    assert len(ids_of(reader.get("/api/v1/timelines/home"))) == 1
    news = "/api/v1/timelines/home/news"
    as_of = reader.get(news).json()["as_of"]
    stored = find_live(fan)
    announced: list[object] = []
    monkeypatch.setattr(consumers, "add_to_stream", lambda posts, _: announced.extend(posts))
    me.post("/api/v1/statuses", {"status": "for @fan", "visibility": "direct"})
    drain_all()
    assert announced == []
    assert find_live(fan) == stored
    newest = ids_of(reader.get("/api/v1/timelines/home"))[0]
    assert not reader.get(news, {"since_id": newest}).json()["new"], as_of
    assert len(ids_of(me.get("/api/v1/timelines/home"))) == 1


def test_an_author_may_leave_its_direct_posts_out(world):
    author = make_account()
    me = Caller(author)
    ids = {
        word: me.post("/api/v1/statuses", {"status": "x", "visibility": word}).json()["id"]
        for word in WORDS
    }
    path = f"/api/v1/accounts/{author}/statuses"
    for more in ({}, {"only_media": "false"}):
        assert set(ids_of(me.get(path, more))) == set(ids.values())
        without = ids_of(me.get(path, {"exclude_direct": "true", **more}))
        assert set(without) == {ids[word] for word in (P, U, V)}
