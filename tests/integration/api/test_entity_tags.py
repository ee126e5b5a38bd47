"""Entity tags of pages and posts: 304 while nothing changed, and a new tag after each change."""

from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.ids import PostId
from posts.types import Kind
from relations.actions.follow import follow
from relations.actions.mute import mute
from tests.callers import Caller
from tests.world import drain_all, make_accounts, publish

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
