"""Home timelines as clients read them, page after page, and the expected order."""

from collections.abc import Callable

import orjson

from infra.api.pages import Window
from posts.ids import EPOCH, PostId
from tests.budgets import Calls
from timelines.home.page import home_page


def first_page(viewer_id: int, limit: int = 20) -> list[str]:
    return ids_of(home_page(viewer_id, Window(limit)).items)


def ids_of(bodies: object) -> list[str]:
    return [orjson.loads(body)["id"] for body in bodies]  # type: ignore[attr-defined]


def read_to_end(viewer_id: int, limit: int = 7, most_pages: int = 200) -> list[str]:
    """Every id from top to bottom by max_id, as the Link header would lead."""
    found: list[str] = []
    cursor = None
    for _ in range(most_pages):
        page = home_page(viewer_id, Window(limit, max_id=cursor))
        found += ids_of(page.items)
        cursor = page.older
        if cursor is None:
            return found
    raise AssertionError("the timeline does not end")


def read_from_bottom(viewer_id: int, limit: int = 7) -> list[str]:
    """Every id from bottom to top by min_id, returned newest first."""
    found: list[str] = []
    cursor = PostId(0, 0, 0).public
    while page := ids_of(home_page(viewer_id, Window(limit, min_id=cursor)).items):
        found = page + found
        cursor = page[0]
    return found


def newest_first(*posts: PostId) -> list[str]:
    return [post.public for post in sorted(posts, reverse=True)]


def at(second: int) -> Callable[[], float]:
    """A clock that always shows this second after the EPOCH of posts."""
    return lambda: EPOCH + second


def pulls(calls: Calls) -> list[str]:
    """The statements that compute a timeline from the posts tables."""
    return [statement.sql for statement in calls.statements if "from_moment" in statement.sql]
