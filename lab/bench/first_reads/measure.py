"""CPU of the web process for first reads over HTTP, against a bare view with the same bytes."""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.utils.crypto import get_random_string

from infra.caching.client import redis
from lab.bench.cpu import CpuReading, Parts
from lab.bench.first_reads.data import Stranger, load_strangers
from lab.bench.mix.requests import HOME
from lab.bench.product import Product, running_product
from lab.bench.server import BenchServer, bare_server
from lab.bench.store_figures import RedisFigures
from lab.load.connection import get_request
from lab.load.mix import read_bodies
from pages.cookie import PAGE_MARK
from pages.sessions import COOKIE, issue_session, page_mark

RELATIONSHIPS = 15
# So many requests of each kind warm up the code of a process, and its connections.
WARM_UP = 12
MOST_READERS = 60
# Our reads and bare views take turns. A row forgets before each turn.
TURNS = 3
BARE_REQUESTS = 700  # a turn
SCANNED = 10_000


class Row(NamedTuple):
    """A kind of read. `forget`: is called with all readers before they read."""

    name: str
    request: Callable[[Stranger], bytes]
    forget: Callable[[Sequence[Stranger]], object] = len


def measure(accounts: int) -> dict[str, Any]:
    """By row: means of one read, and `cpu_of_bare`: how many bare views it costs, the median of
    TURNS with their `lowest` and `highest`.

    `accounts`: a tenth of them read in each row, 60 at most.
    """
    rows = _rows()
    each = min(accounts // 10, MOST_READERS)
    groups = load_strangers("first", ["warm_up", *(row.name for row in rows)], each)
    with running_product() as product:
        for row in rows:
            _ask(product.address, row, groups[row.name] + groups["warm_up"])
    # Another start: these processes know no reader.
    with running_product() as product:
        for row in rows:
            _ask(product.address, row, groups["warm_up"][:WARM_UP])
        bodies = {row.name: _ask(product.address, row, groups["warm_up"][:1])[0] for row in rows}
        with bare_server(bodies) as floor:
            return {row.name: _compare(product, floor, row, groups[row.name]) for row in rows}


def _rows() -> list[Row]:
    """The last ones forget what Redis has."""
    return [
        Row("home", _home),
        Row(
            "author_page", lambda reader: _get(f"/api/v1/accounts/{reader.known}/statuses", reader)
        ),
        Row("post", lambda reader: _get(f"/api/v1/statuses/{reader.post.id.public}", reader)),
        Row("followers", lambda reader: _get(f"/api/v1/accounts/{reader.known}/followers", reader)),
        Row("relationships", _relationships),
        Row("html_home", _html_home),
        Row("home_away", _home, forget=_forget_readers),
        Row("home_flushed", _home, forget=lambda _: redis().call("FLUSHDB")),
    ]


def _get(path: str, reader: Stranger) -> bytes:
    return get_request(path, reader.token)


def _home(reader: Stranger) -> bytes:
    return _get(HOME, reader)


def _relationships(reader: Stranger) -> bytes:
    ids = "&".join(f"id[]={author}" for author in reader.authors[:RELATIONSHIPS])
    return _get(f"/api/v1/accounts/relationships?{ids}", reader)


def _html_home(reader: Stranger) -> bytes:
    """As a browser that was here before: it has all cookies."""
    token = _session_of(reader.account_id)
    cookies = {
        COOKIE: token,
        PAGE_MARK: page_mark(token),
        "csrftoken": get_random_string(CSRF_SECRET_LENGTH),
    }
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return f"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()


@cache
def _session_of(account_id: int) -> str:
    """One for all reads: a new session costs PostgreSQL more than the page."""
    return issue_session(account_id).token


def _forget_readers(readers: Sequence[Stranger]) -> None:
    """As if they had been away for weeks: Redis has nothing of them."""
    tags = {b"{%d}" % reader.account_id for reader in readers}
    cursor, keys = 0, list[bytes]()
    while True:
        cursor, some = redis().call("SCAN", cursor, "COUNT", SCANNED)
        keys += [key for key in some if b"{%b}" % key.partition(b"{")[2].partition(b"}")[0] in tags]
        if not int(cursor):
            break
    redis().run([("DEL", key) for key in keys])


def _ask(address: tuple[str, int], row: Row, readers: Sequence[Stranger]) -> list[bytes]:
    return read_bodies(address, [row.request(reader) for reader in readers])


def _compare(
    product: Product, floor: BenchServer, row: Row, readers: Sequence[Stranger]
) -> dict[str, float]:
    bare = [get_request(f"/bare?{row.name}", "none")] * BARE_REQUESTS
    turns, ratios = [], []
    for number in range(TURNS):
        mine = readers[number::TURNS]
        row.forget(mine)
        floor_us = _measure(floor.address, {"web": {floor.pid}}, bare)["web_us"]
        ours = _measure(product.address, product.parts, [row.request(reader) for reader in mine])
        turns.append(ours | {"bare_us": floor_us})
        ratios.append(ours["web_us"] / floor_us)
    spread = dict(zip(("lowest", "cpu_of_bare", "highest"), sorted(ratios), strict=True))
    means = {name: round(fmean(turn[name] for turn in turns), 1) for name in turns[0]}
    return {name: round(ratio, 2) for name, ratio in spread.items()} | means


def _measure(address: tuple[str, int], parts: Parts, requests: Sequence[bytes]) -> dict[str, float]:
    count = len(requests)
    before, redis_before = CpuReading.of(parts), RedisFigures.read()
    bodies = read_bodies(address, requests)
    after, spent = CpuReading.of(parts), RedisFigures.read().since(redis_before)
    used = {part: (s - before.used_s[part]) / count * 1e6 for part, s in after.used_s.items()}
    return {
        "web_us": round(used["web"], 1),
        "redis_us": round(spent.cpu_s / count * 1e6),
        "redis_commands": round(spent.commands / count, 1),
        "postgres_us": round(used.get("postgres", 0.0)),
        "bytes": round(fmean(map(len, bodies))),
    }
