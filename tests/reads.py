"""Everything that can be read over HTTP, found from the routes, so that no endpoint is forgotten.

What a query parameter may be comes from the OpenAPI document. A placeholder, or a parameter of free
text, that is not known here fails the test that asks: say in `_paths` or in TEXTS what to ask for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import orjson
from django.http import HttpResponse
from django.test import Client

from lab.accept.facts import openapi_document
from lab.accept.routes import PLACEHOLDER, SiteRoute, iter_routes
from posts.api.schema import MOST_AT_ONCE
from tests.callers import next_link

# The web pages are clients of the API, and have no answers of their own.
API = ("api/v1/", "api/v2/", ".well-known/", "nodeinfo/")
PAGING = {"limit", "max_id", "since_id", "min_id", "offset", "bound", "after_id"}
# Free texts that some of the things asked for have.
TEXTS = {
    **dict.fromkeys(("tagged", "any[]", "all[]", "none[]"), "tea"),
    **dict.fromkeys(("types[]", "exclude_types[]", "grouped_types[]"), "follow"),
    "account_id": "1", "around_id": "1", "after": "oldest", "supported_types[]": "mention",
}  # fmt: skip
# Tells the time: not compared.
CLOCK = re.compile(rb'(?<="as_of":")\d+(?=")|(?<="bound":")\w+(?=")')
CLOCK_IN_LINK = re.compile(r"(?<=bound=)\w+")
# Tell how many people and posts there are, which is counted now and then.
OF_THE_SITE = {
    "/api/v1/instance",
    "/api/v1/instance/activity",
    "/api/v2/instance",
    "/nodeinfo/2.0",
    "/nodeinfo/2.1",
}
A_PAGE = 2  # small, so that lists have several
# The schema of each parameter, by its name.
Parameters = Mapping[str, Mapping[str, Any]]


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
        for route in iter_routes()
        if route.path.startswith(API)
        for read in _reads_of(route, parameters.get(route.template, {}), world)
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


def _reads_of(route: SiteRoute, parameters: Parameters, world: World) -> Iterator[Read]:
    assert route.view is not None, (
        f"{route.path}: is this an endpoint? Then it is one of Endpoint's"
    )
    for path in _paths(route.path, world):
        if hasattr(route.view, "get"):
            for query in _queries(parameters, world, route.path):
                yield Read(route.path, f"/{path}{query}")
        if route.view.scopes.get("POST", "").startswith("read"):
            ids = [str(account) for account in world.accounts]
            yield Read(route.path, f"/{path}", orjson.dumps({"id": ids}))


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
        "type_name": ["recipe.cooked"],
        "reaction": ["favourite"],
        "reaction_name": ["clap"],
        "kind": ["recipe"],
    }
    names = PLACEHOLDER.findall(route)
    for values in product(*(fillings[name] for name in names)):
        yield PLACEHOLDER.sub(r"{\1}", route).format(**dict(zip(names, values, strict=True)))


def _queries(parameters: Parameters, world: World, route: str) -> list[str]:
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
    needed = [query for name in parameters.keys() & known.keys() for query in known[name]]
    paged = ["", *([f"?limit={A_PAGE}"] if "limit" in parameters else [])]
    others = sorted(parameters.keys() - PAGING)
    return needed or paged + [f"?{name}={_value(name, parameters[name])}" for name in others]


def _value(name: str, schema: Mapping[str, Any]) -> str:
    """One that narrows the answer: a boolean that is on, the last of several texts."""
    schema = schema.get("items", schema)
    values = [each for each in schema.get("enum", ()) if each]
    if schema.get("type") == "boolean" or {True, "true"} & {*values}:
        return "true"
    assert values or name in TEXTS, f"say in TEXTS of tests/reads.py what to ask for: {name}"
    return TEXTS.get(name) or str(values[-1])


@cache
def _query_parameters() -> dict[str, Parameters]:
    return {
        path: {
            one["name"]: one["schema"]
            for one in operations.get("get", {}).get("parameters", [])
            if one["in"] == "query"
        }
        for path, operations in openapi_document()["paths"].items()
    }
