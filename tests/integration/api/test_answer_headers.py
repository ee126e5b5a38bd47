"""What caches and browsers may do with answers of the API: reads, errors, tokens and secrets.

Entity tags of pages and posts: 304 while nothing changed, and a new tag after each change.

A path of the API with a slash at its end has the same answer, also on the short path.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from config import urls
from infra.api.endpoint import Endpoint
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.ids import PostId
from posts.types import Kind
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.callers import Caller
from tests.integration.config.test_short_path import ask
from tests.reads import CLOCK, World, all_reads
from tests.sign_ups import OUT_OF_BAND, PASSWORD, App
from tests.world import drain_all, make_account, make_accounts, publish
from web.body_limits import UPLOAD_PATHS, is_upload
from web.short_path import ShortPath


def headers_of(answer: Any) -> tuple[str, str, str]:
    return answer["Cache-Control"], answer["Vary"], answer["X-Content-Type-Options"]


OF_ONE_CALLER = ("private, no-cache", "Authorization, Tideline-Account", "nosniff")


def test_no_shared_cache_may_keep_an_answer(world: None) -> None:
    ann = make_account("ann")
    caller, anonymous = Caller(ann), Client()
    reads = all_reads(World({ann: "ann"}, [publish(ann).public], ["1"]))
    for read in reads:
        for client in (caller.client, anonymous):
            answer = client.get(read.path) if read.body is None else caller.post(read.path)
            assert headers_of(answer) == OF_ONE_CALLER, (read, answer.status_code)
    assert len({read.template for read in reads}) > 30


def test_errors_and_writes_have_the_same_headers(world: None) -> None:
    caller = Caller(make_account())
    answers = [
        caller.post("/api/v1/statuses", {"status": "hello"}),
        caller.post("/api/v1/statuses", {}),
        caller.get("/api/v1/nothing"),
        caller.delete("/api/v1/timelines/home"),
        caller.client.post("/api/v1/statuses", b"{", "application/json"),
        Client().get("/api/v1/timelines/home"),
        Client(headers={"Authorization": "Bearer nonsense"}).get("/api/v1/timelines/home"),
        Client().get("/health/live"),
    ]
    assert [answer.status_code for answer in answers] == [200, 422, 404, 405, 400, 401, 401, 200]
    assert {headers_of(answer) for answer in answers} == {OF_ONE_CALLER}


def test_no_cache_at_all_may_keep_a_token_or_a_secret(world: None) -> None:
    client = Client()
    form = {"client_name": "Reader", "redirect_uris": OUT_OF_BAND, "scopes": "read"}
    app = App.register(client)
    ann = {"username": "ann", "email": "ann@example.org", "password": PASSWORD, "agreement": True}
    signed_up = app.ask_sign_up(**ann)
    answers = [
        client.post("/api/v1/apps", form),
        app.ask_token(grant_type="client_credentials", scope="read"),
        app.ask_token(grant_type="nonsense"),
        signed_up,
        app.revoke(signed_up.json()["access_token"]),
        app.revoke("nonsense"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 200, 200, 200]
    assert {answer["Cache-Control"] for answer in answers} == {"no-store"}
    assert {answer["X-Content-Type-Options"] for answer in answers} == {"nosniff"}


HOME = "/api/v1/timelines/home"


class Town:
    """A reader of two authors, one of whom has a post."""

    def __init__(self) -> None:
        self.me, self.ann, self.bob = make_accounts(3)
        for author in (self.ann, self.bob):
            follow(self.me, author)
        self.caller = Caller(self.me)
        self.post = publish(self.ann)
        drain_all()
        self.paths = {
            "home": HOME,
            "author": f"/api/v1/accounts/{self.ann}/statuses",
            "post": f"/api/v1/statuses/{self.post.public}",
            "public": "/api/v1/timelines/public",
        }

    def read(self, path: str, tag: str | None = None) -> HttpResponse:
        headers = {"If-None-Match": tag} if tag is not None else {}
        return self.caller.client.get(path, headers=headers)


@pytest.fixture
def town(world: None) -> Iterator[Town]:
    yield Town()


def favourite(town: Town) -> None:
    mark_post(town.me, town.post, Kind.FAVOURITE, True)


def favourite_by_another(town: Town) -> None:
    mark_post(town.bob, town.post, Kind.FAVOURITE, True)


def rename(town: Town) -> None:
    update_profile(town.ann, ProfileEdit(display_name="Ann the Second"))


def follow_the_author(town: Town) -> None:
    """The account in the post has a count of its followers."""
    follow(town.bob, town.ann)


def bookmark(town: Town) -> None:
    mark_post(town.me, town.post, Kind.BOOKMARK, True)


CHANGES = [favourite, favourite_by_another, bookmark, rename, follow_the_author]


@pytest.mark.parametrize("name", ["home", "author", "post", "public"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_a_tag_holds_until_something_in_the_answer_changes(
    town: Town, name: str, change: Callable[[Town], None]
) -> None:
    path = town.paths[name]
    first = town.read(path)
    tag = first["ETag"]
    assert town.read(path)["ETag"] == tag, "from memory as from Redis"
    again = town.read(path, tag)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)
    change(town)
    drain_all()
    after = town.read(path, tag)
    assert after.status_code == 200
    assert after.content != first.content
    assert after["ETag"] != tag


@pytest.mark.parametrize("change", [delete_post, repost, mute, publish])
def test_a_page_with_other_entries_has_another_tag(
    town: Town, change: Callable[..., object]
) -> None:
    arguments: dict[Callable[..., object], tuple[int | PostId, ...]] = {
        delete_post: (town.post,),
        repost: (town.bob, town.post),
        mute: (town.me, town.ann),
        publish: (town.bob,),
    }
    tag = town.read(HOME)["ETag"]
    assert town.read(HOME, tag).status_code == 304
    change(*arguments[change])
    drain_all()
    assert town.read(HOME, tag).status_code == 200


def test_a_304_has_the_headers_that_caches_need(town: Town) -> None:
    first = town.read(HOME)
    answer = town.read(HOME, first["ETag"])
    for header in ("Cache-Control", "Vary", "X-RateLimit-Limit"):
        assert answer[header] == first[header]
    assert "Content-Length" not in answer
    assert "Content-Type" not in answer


@pytest.mark.parametrize(
    ("known", "status"),
    [("*", 304), ('"other"', 200), ("nonsense", 200), ("", 200), ('"a", {tag}', 304)],
)
def test_known_tags_are_read_as_rfc_9110_says(town: Town, known: str, status: int) -> None:
    tag = town.read(HOME)["ETag"]
    assert town.read(HOME, known.format(tag=tag)).status_code == status
    assert town.read(HOME, tag.removeprefix("W/")).status_code == 304


def test_a_tag_of_another_viewer_or_page_does_not_match(town: Town) -> None:
    """Flags differ between viewers, and the Link header between pages."""
    favourite(town)
    drain_all()
    path = town.paths["post"]
    mine, guests = town.read(path)["ETag"], Client().get(path)["ETag"]
    assert mine != guests
    assert town.read(HOME)["ETag"] != town.read(f"{HOME}?limit=7")["ETag"]


WRITES = ("POST", "PUT", "PATCH", "DELETE")


def write_routes() -> list[tuple[str, str]]:
    """Method and path of each write, with one number in all places of ids, and a letter as tag."""
    found = []
    for pattern in get_resolver().url_patterns:
        view = getattr(pattern.callback, "view_class", None) if pattern.callback else None
        if view is not None and issubclass(view, Endpoint):
            path = "/".join(
                "a" if part.startswith("<tag:") else "1" if "<" in part else part
                for part in str(pattern.pattern).split("/")
            )
            found += [(m, f"/{path}") for m in WRITES if hasattr(view, m.lower())]
    return found


def test_every_read_is_the_same_with_a_slash(world: None) -> None:
    me = make_account("ann")
    post = publish(me).public
    drain_all()
    caller = Caller(me, "read write follow push profile")
    reads = {one.template: one for one in all_reads(World({me: "ann"}, [post])) if not one.body}
    assert len(reads) > 50
    for read in reads.values():
        path, mark, query = read.path.partition("?")
        both = [caller.get(one) for one in (read.path, f"{path}/{mark}{query}")]
        plain, slashed = ((a.status_code, CLOCK.sub(b"", a.content), a.get("Link")) for a in both)
        assert slashed == plain, read.template


def test_every_write_is_the_same_with_a_slash(world: None, client: Client) -> None:
    routes, statuses = write_routes(), set()
    assert len(routes) > 70
    for method, path in routes:
        plain, slashed = (client.generic(method, one) for one in (path, f"{path}/"))
        assert (slashed.status_code, slashed.content) == (plain.status_code, plain.content), path
        statuses.add(plain.status_code)
    assert statuses <= {400, 401, 422}, "no redirect, and no 404"
    assert all(is_upload(f"{path}/") for path in UPLOAD_PATHS if path.startswith("/api/"))


@pytest.mark.parametrize("path", ["/api/v1/timelines/home", "/api/v1/instance"])
def test_the_short_path_finds_it_too(world: None, path: str) -> None:
    short = ShortPath(get_wsgi_application(), urls.urlpatterns)
    assert short.find({"REQUEST_METHOD": "GET", "PATH_INFO": f"{path}/"}) is not None
    assert short.is_quick(f"{path}/") == short.is_quick(path)
    assert ask(short, f"{path}/").status == ask(short, path).status
    assert short.find({"REQUEST_METHOD": "GET", "PATH_INFO": f"{path}//"}) is None


def test_pages_keep_their_slash(world: None, client: Client) -> None:
    assert client.get("/search").status_code == 200
    assert client.get("/search/").status_code == 404


def test_a_block_of_a_server_is_refused_and_its_end_does_nothing(world: None) -> None:
    me, path = Caller(make_account()), "/api/v1/domain_blocks"
    assert (me.get(path).json(), me.delete(f"{path}?domain=a.example").json()) == ([], {})
    assert me.post(path, {"domain": "a.example"}).status_code == 403
