"""A reader who catches up: over HTTP, page after page, and what the marker says then."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.callers import Caller, next_link

CATCH_UP, MARKERS = "/api/v1/timelines/home/catch_up", "/api/v1/markers"


class Read(NamedTuple):
    """All pages of a catch-up together. `groups`: names and the ids of their statuses."""

    pages: list[Any]
    together: list[str]
    groups: list[tuple[str, list[str]]]

    @property
    def bound(self) -> str:
        return str(self.pages[0]["bound"])

    @property
    def ids(self) -> list[str]:
        return [*self.together, *(one for _, ids in self.groups for one in ids)]


def read_all(caller: Caller, **query: object) -> Read:
    path: str | None = f"{CATCH_UP}?{urlencode(query)}"
    read = Read([], [], [])
    while path is not None:
        answer = caller.get(path)
        assert answer.status_code == 200, answer.content
        _add(read, answer.json())
        path = next_link(answer)
    return read


def _add(read: Read, page: Any) -> None:
    read.pages.append(page)
    read.together.extend(one["id"] for one in page["reblogged_together"])
    for group in page["groups"]:
        ids = [one["id"] for one in group["statuses"]]
        if group["is_continued"]:
            read.groups[-1][1].extend(ids)
        else:
            read.groups.append((group["account"]["id"], ids))


def finish(caller: Caller, bound: str) -> Any:
    """Says that the catch-up was read; returns the marker."""
    answer = caller.post(CATCH_UP, {"bound": bound})
    assert answer.status_code == 200, answer.content
    return answer.json()["home"]


def mark(caller: Caller, last_read_id: str) -> None:
    """As other clients do."""
    answer = caller.post(MARKERS, {"home": {"last_read_id": last_read_id}})
    assert answer.status_code == 200, answer.content


def unread(caller: Caller) -> tuple[int, bool]:
    home = caller.get(MARKERS, {"timeline[]": "home"}).json()["home"]
    return home["unread_count"], home["unread_is_more"]
