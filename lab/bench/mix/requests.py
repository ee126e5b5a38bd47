"""Draws the requests of the mix."""

import itertools
import random
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from lab.bench.draws import Weighted, Zipf
from lab.bench.mix.data import SEED, MixData
from lab.bench.mix.shares import PER_THOUSAND, WRITES
from lab.bench.world import TEXT
from lab.load.connection import get_request, post_request
from lab.load.loop import LoadRequest
from lab.load.mix import read_bodies
from posts.ids import PostId
from timelines.increments.post_stream import LAG_S

READER_SHAPE = 0.8
RELATIONSHIPS = 20
HOME = "/api/v1/timelines/home"
NEWS = f"{HOME}/news"
PAUSE_S = 0.5
# The index needs about eleven seconds.
INDEX_S = 60.0


class ReaderPlace(NamedTuple):
    """`oldest`: the id at the end of the reader's first page. `as_of`: where its news begin."""

    oldest: str
    as_of: str


def read_places(address: tuple[str, int], data: MixData) -> Mapping[int, ReaderPlace]:
    """Reads the first page and the news of each reader, which makes its timeline live."""
    tokens = [data.tokens[reader] for reader in data.readers]
    wait_for_index(address, tokens[0])
    pages, news = (
        map(orjson.loads, read_bodies(address, [get_request(path, token) for token in tokens]))
        for path in (HOME, NEWS)
    )
    return {
        reader: ReaderPlace(page[-1]["id"] if page else new["as_of"], new["as_of"])
        for reader, page, new in zip(data.readers, pages, news, strict=True)
    }


def wait_for_index(address: tuple[str, int], token: str) -> None:
    """Waits until the last-post index knows all posts since an `as_of`.

    A new one does not in its first ten seconds. The requests of the mix keep their `as_of`, so
    the home timeline would answer all of them. Raises: TimeoutError.
    """
    begun, deadline = _read_as_of(address, token), time.monotonic() + INDEX_S
    while _read_as_of(address, token).second <= begun.second + 2 * LAG_S:
        if time.monotonic() > deadline:
            raise TimeoutError("the last-post index does not go on")
        time.sleep(PAUSE_S)


def _read_as_of(address: tuple[str, int], token: str) -> PostId:
    (body,) = read_bodies(address, [get_request(NEWS, token)])
    return PostId.from_public(orjson.loads(body)["as_of"])


class MixRequests:
    """Readers and writers are drawn by Zipf, the accounts that they look at by followers."""

    def __init__(self, data: MixData, places: Mapping[int, ReaderPlace]) -> None:
        dice = random.Random(SEED)
        self._data, self._places = data, places
        self._kinds = Weighted([*PER_THOUSAND], PER_THOUSAND.values(), dice)
        self._readers = Zipf(data.readers, READER_SHAPE, dice)
        self._known = Weighted([*data.followers], data.followers.values(), dice)
        fame = [data.followers[author] for author in data.authors]
        self._authors = Weighted(data.authors, fame, dice)
        self._writes = Weighted([*WRITES], WRITES.values(), dice)
        self._list_names = Weighted(("followers", "following"), (1, 1), dice)
        self._acts = Weighted(("follow", "unfollow"), (1, 1), dice)
        self._number = itertools.count()
        self._dice = dice

    def __iter__(self) -> Iterator[LoadRequest]:
        while True:
            yield self.of(self._kinds.draw())

    def of(self, kind: str) -> LoadRequest:
        """A request of this kind."""
        reader = self._readers.draw()
        if kind == "write":
            request = self._write(reader)
        else:
            request = get_request(self.path(kind, reader), self._data.tokens[reader])
        return LoadRequest(request, kind=kind)

    def posts(self) -> Iterator[LoadRequest]:
        """Only posts, by authors with many followers."""
        while True:
            yield LoadRequest(self._post())

    def path(self, kind: str, reader: int) -> str:
        """The path of a read of this kind by this reader."""
        if kind == "home":
            return HOME
        if kind == "news":
            return f"{NEWS}?since_id={self._places[reader].as_of}"
        if kind == "next_page":
            return f"{HOME}?max_id={self._places[reader].oldest}"
        if kind == "post":
            return f"/api/v1/statuses/{self._draw_post()}"
        if kind == "relationships":
            others = dict.fromkeys(self._known.draw_many(RELATIONSHIPS * 3))
            ids = "&".join(f"id[]={other}" for other in [*others][:RELATIONSHIPS])
            return f"/api/v1/accounts/relationships?{ids}"
        return self._account_path(kind, self._known.draw())

    def _account_path(self, kind: str, account_id: int) -> str:
        path = f"/api/v1/accounts/{account_id}"
        if kind == "author_page":
            return f"{path}/statuses"
        return f"{path}/{self._list_names.draw()}" if kind == "list" else path

    def _draw_post(self) -> str:
        return self._dice.choice(self._data.posts[self._known.draw()]).id.public

    def _write(self, writer: int) -> bytes:
        kind, token = self._writes.draw(), self._data.tokens[writer]
        if kind == "post":
            return self._post()
        if kind == "favourite":
            return post_request(f"/api/v1/statuses/{self._draw_post()}/favourite", token, {})
        followee = self._known.draw()
        act = "unfollow" if followee == writer else self._acts.draw()
        return post_request(f"/api/v1/accounts/{followee}/{act}", token, {})

    def _post(self) -> bytes:
        text = f"{TEXT}{next(self._number)}"
        token = self._data.tokens[self._authors.draw()]
        return post_request("/api/v1/statuses", token, {"status": text})
