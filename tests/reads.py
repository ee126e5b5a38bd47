"""Everything that can be read over HTTP, found from the routes, so that no endpoint is forgotten.

A route with a placeholder or a query parameter that is not known here fails the test that asks:
teach it to FILLINGS or QUERIES.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import orjson
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.generators import SchemaGenerator

from posts.api.schema import MOST_AT_ONCE
from tests.callers import next_link

# The web pages are clients of the API, and have no answers of their own.
API = ("api/v1/", "api/v2/", ".well-known/", "nodeinfo/")
PLACEHOLDER = re.compile(r"<\w+:(\w+)>")
PAGING = {"limit", "max_id", "since_id", "min_id", "offset", "bound", "after_id"}
FILTERS = {
    "exclude_replies", "exclude_reblogs", "all_promotions", "local", "remote", "only_media",
    "resolve", "following", "exclude_unreviewed", "include_filtered", "pinned", "exclude_direct",
    "with_members", "conversations",
}  # fmt: skip
OPTIONS = {
    "tagged": "tea", "any[]": "tea", "all[]": "tea", "none[]": "tea",
    "types[]": "follow", "exclude_types[]": "follow", "grouped_types[]": "follow",
    "supported_types[]": "mention",
    "account_id": "1", "around_id": "1", "type": "hashtags", "expand_accounts": "partial_avatars",
    "after": "oldest",
}  # fmt: skip
# Tells the time: not compared.
CLOCK = re.compile(rb'(?<="as_of":")\d+(?=")|(?<="bound":")\w+(?=")')
CLOCK_IN_LINK = re.compile(r"(?<=bound=)\w+")
A_PAGE = 2  # small, so that lists have several


class Read(NamedTuple):
    """`template`: the route, for messages. `body`: of a question that is a POST."""

    template: str
    path: str
    body: bytes | None = None


class World(NamedTuple):
    """Whom and what can be asked for: accounts by id, statuses by public id, somebody's lists."""

    accounts: Mapping[int, str]
    statuses: Sequence[str]
    lists: Sequence[str] = ()
    scheduled: Sequence[str] = ("1",)
    notifications: Sequence[str] = ("11",)
    groups: Sequence[str] = ("follow-1",)


def all_reads(world: World) -> list[Read]:
    """Every GET, and every POST that only asks, with every account, status and list there is."""
    parameters = _query_parameters()
    return [
        read
        for route, view in _routes(get_resolver().url_patterns, "")
        if route.startswith(API)
        for read in _reads_of(route, view, parameters.get(_template(route), set()), world)
    ]


def answers(client: Client, reads: Sequence[Read]) -> dict[Read, list[tuple[int, bytes, str]]]:
    """What somebody is answered, page by page: status, body, links."""
    return {read: list(_pages(client, read)) for read in reads}


def _pages(client: Client, read: Read) -> Iterator[tuple[int, bytes, str]]:
    path: str | None = read.path
    while path is not None:
        answer = _ask(client, path, read.body)
        assert answer.status_code < 500, (read, answer.content)
        assert answer.status_code != 429, "the test asks more than a caller may"
        link = CLOCK_IN_LINK.sub("", answer.get("Link", ""))
        yield answer.status_code, CLOCK.sub(b"", answer.content), link
        path = next_link(answer)


def _ask(client: Client, path: str, body: bytes | None) -> HttpResponse:
    if body is None:
        return client.get(path)
    return client.post(path, body, "application/json")


def _routes(patterns: Sequence[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route, getattr(pattern.callback, "cls", None)


def _reads_of(route: str, view: Any, names: set[str], world: World) -> Iterator[Read]:
    assert view is not None, f"{route}: is this an endpoint? Then it is one of Endpoint's"
    for path in _paths(route, world):
        if hasattr(view, "get"):
            for query in _queries(names, world, route):
                yield Read(route, f"/{path}{query}")
        if view.scopes.get("POST", "").startswith("read"):
            ids = [str(account) for account in world.accounts]
            yield Read(route, f"/{path}", orjson.dumps({"id": ids}))


def _paths(route: str, world: World) -> Iterator[str]:
    fillings: dict[str, Sequence[object]] = {
        "account_id": list(world.accounts),
        "status_id": world.statuses,
        "conversation_id": world.statuses,
        "quoting_id": ["1"],  # to write to only
        "list_id": world.lists,
        "strike_id": ["1"],  # to write to only
        "notification_id": world.notifications,
        "group_key": world.groups,
        "name": ["tea"],
        "poll_id": world.statuses,
        "tag_id": ["1"],  # to write to only
        "media_id": ["1"],  # only the owner's, and only before a post has it
        "scheduled_id": world.scheduled,
        "filter_id": ["1"],  # of others: nobody has these
        "keyword_id": ["1"],
        "rule_id": ["1"],
        "campaign_id": ["1"],
        "external_id": ["u1"],  # for services only
    }
    names = PLACEHOLDER.findall(route)
    for values in product(*(fillings[name] for name in names)):
        yield _template(route).format(**dict(zip(names, values, strict=True)))


def _queries(names: set[str], world: World, route: str) -> list[str]:
    asked = world.statuses if route == "api/v1/statuses" else world.accounts
    ids = "&".join(f"id[]={one}" for one in list(asked)[:MOST_AT_ONCE])
    known = {
        "id[]": [f"?{ids}"],
        "acct": [f"?acct={name}" for name in world.accounts.values()],
        "order": ["?order=active", "?order=new", "?order=new&limit=2&offset=1"],
        "resource": [f"?resource=acct:{name}@localhost:8000" for name in world.accounts.values()],
        "q": [f"?q={text}" for text in (*world.accounts.values(), "person", "hello", "@nothing@x")],
        "timeline[]": ["?timeline[]=home&timeline[]=notifications"],
    }
    unknown = names - PAGING - FILTERS - OPTIONS.keys() - known.keys()
    assert not unknown, f"teach tests/reads.py what to ask for: {unknown}"
    paged = ["", *([f"?limit={A_PAGE}"] if "limit" in names else [])]
    paged += [f"?{name}=true" for name in sorted(names & FILTERS)]
    paged += [f"?{name}={OPTIONS[name]}" for name in sorted(names & OPTIONS.keys())]
    return [query for name in names & known.keys() for query in known[name]] or paged


@cache
def _query_parameters() -> dict[str, set[str]]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return {
        path.removeprefix("/"): {
            one["name"]
            for one in operations.get("get", {}).get("parameters", [])
            if one["in"] == "query"
        }
        for path, operations in paths.items()
    }


def _template(route: str) -> str:
    return PLACEHOLDER.sub(r"{\1}", route)
