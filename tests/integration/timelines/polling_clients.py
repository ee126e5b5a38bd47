"""Clients that poll a timeline with the newest id they have seen, as those without a stream do."""

from collections.abc import Callable

from infra.api.pages import Page, Window
from posts.ids import FIRST, PostId
from tests.integration.timelines.homes import ids_of

ReadPage = Callable[[Window], Page[bytes]]
# A loop of polls that does not end is a fault.
MOST_POLLS = 200


class PollingClient:
    """Starts with an ordinary page. `got`: all answers, newest first in each."""

    def __init__(self, read: ReadPage, limit: int = 20) -> None:
        self._read, self.limit = read, limit
        self.got: list[list[PostId]] = []
        self.cursor = FIRST
        self._take(self._page(Window(limit)))

    @property
    def seen(self) -> set[PostId]:
        return {post_id for answer in self.got for post_id in answer}

    def poll(self) -> list[PostId]:
        """One poll; returns what it brought."""
        raise NotImplementedError

    def poll_to_end(self) -> None:
        """Polls until an answer is empty."""
        for _ in range(MOST_POLLS):
            if not self.poll():
                return
        raise AssertionError("the polls do not end")

    def _page(self, window: Window) -> Page[bytes]:
        return self._read(window)

    def _take(self, page: Page[bytes]) -> list[PostId]:
        ids = [PostId.from_public(public) for public in ids_of(page.items)]
        assert ids == sorted(set(ids), reverse=True), "newest first, without repeats"
        self.got.append(ids)
        self.cursor = max([self.cursor, *ids])
        return ids


class MinIdClient(PollingClient):
    def poll(self) -> list[PostId]:
        return self._take(self._page(Window(self.limit, min_id=self.cursor.public)))


class PrevClient(PollingClient):
    """Follows the prev link. It never moves backwards."""

    def _take(self, page: Page[bytes]) -> list[PostId]:
        before = self.cursor
        ids = super()._take(page)
        if page.newer is not None:
            self.cursor = PostId.from_public(page.newer)
        assert self.cursor >= before
        assert self.cursor == max([before, *ids])
        return ids

    poll = MinIdClient.poll


class SinceIdClient(PollingClient):
    """Goes down a page that is full, to the cursor of the poll before, and then polls once more."""

    def poll(self) -> list[PostId]:
        found = self._poll_down()
        return found if len(found) < self.limit else [*self._poll_down(), *found]

    def _poll_down(self) -> list[PostId]:
        since = self.cursor.public
        found = self._take(page := self._page(Window(self.limit, since_id=since)))
        while page.older is not None:
            page = self._page(Window(self.limit, since_id=since, max_id=page.older))
            part = self._take(page)
            assert not set(part) & set(found), "going down never repeats a post"
            found = found + part
        return found


class MixedClient(SinceIdClient):
    """Polls in one way at one time and in another at another. `way`: of the next poll."""

    way = "min_id"

    def poll(self) -> list[PostId]:
        if self.way == "since_id":
            return super().poll()
        if self.way == "ordinary":
            return self._read_all()
        return self._take(self._page(Window(self.limit, min_id=self.cursor.public)))

    def _read_all(self) -> list[PostId]:
        """Ordinary pages to the end: a late post is in its place there."""
        before, page = self.seen, self._page(Window(self.limit))
        self._take(page)
        while page.older is not None:
            page = self._page(Window(self.limit, max_id=page.older))
            self._take(page)
        return sorted(self.seen - before)


CLIENTS = {"min_id": MinIdClient, "prev": PrevClient, "since_id": SinceIdClient}
