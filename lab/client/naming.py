"""Which operations of the OpenAPI document the client has, and what it calls them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from lab.client.names import LEFT_OUT, NAMES

SERVICES = "/api/v1/services/"
# What is done to one of a kind, and to a list of them.
WRITES = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}


class OperationsUnnamed(Exception):
    """These have no name by their paths, or the same one, or names.py has what is not there."""


class Named(NamedTuple):
    """An operation that the client has."""

    group: str
    method: str
    verb: str
    path: str
    is_repeatable: bool

    @property
    def is_of_services(self) -> bool:
        return self.path.startswith(SERVICES)


def name_operations(document: Any) -> list[Named]:
    """All that the client has, by their names. Raises: OperationsUnnamed."""
    existing = {
        f"{verb.upper()} {path}" for path, verbs in document["paths"].items() for verb in verbs
    }
    named = read_names(NAMES)
    known = {f"{each.verb} {each.path}" for each in named}
    others = [each for each in existing - known if not each.startswith(tuple(LEFT_OUT))]
    unnamed = sorted([*(known - existing), *(each for each in others if not _has_name(each))])
    if unnamed:
        raise OperationsUnnamed(", ".join(unnamed))
    named += [_named_by_path(each) for each in others]
    twice = sorted(_names_given_twice(named))
    if twice:
        raise OperationsUnnamed(", ".join(twice))
    return sorted(named, key=lambda each: (each.is_of_services, each[:2]))


def read_names(table: str) -> list[Named]:
    return [_read_line(line) for line in table.splitlines() if line]


def _read_line(line: str) -> Named:
    name, verb, path = line.split()
    group, method = name.split(".")
    is_repeatable = verb[-1] in "*?" or verb in ("GET", "PUT")
    return Named(group, method, verb.rstrip("*?"), path, is_repeatable)


def _has_name(operation: str) -> bool:
    """Calls of services are grouped by what they are for, which no path says."""
    path = operation.partition(" ")[2]
    return path.startswith("/api/") and not path.startswith(SERVICES)


def _named_by_path(operation: str) -> Named:
    """`/api/v1/accounts/{account_id}/followers` is `accounts.followers`, a GET of one is `get`."""
    verb, _, path = operation.partition(" ")
    group, *words = [part for part in path.split("/")[3:] if "{" not in part]
    read = "get" if path.endswith("}") else "mine"
    method = "_".join(words) or WRITES.get(verb, read)
    return Named(group, method, verb, path, verb in ("GET", "PUT"))


def _names_given_twice(named: list[Named]) -> Iterator[str]:
    for (group, method), count in Counter(each[:2] for each in named).items():
        if count > 1:
            yield f"{group}.{method}"
