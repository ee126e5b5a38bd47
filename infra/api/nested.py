"""Lists and objects inside a request. JSON, forms and queries can say the same:

{"fields": [{"name": "a"}, {"name": "b"}]}          JSON
{"fields": {"0": {"name": "a"}}}                    JSON of some clients
fields[0][name]=a&fields[1][name]=b                 a form or a query
fields[][name]=a&fields[][name]=b                   the same of Rails' clients

`nest` gives all of them the shape of JSON, so that an endpoint reads one shape.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from infra.api.errors import InvalidRequest
from infra.api.parsing import clean_text

# Deeper names are no parameters of any endpoint.
_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\]){0,4})")
_PART = re.compile(r"\[([^\[\]]*)\]")
_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_OBJECTS = 1_000
Field = tuple[str, Sequence[Any]]


def nest(fields: Iterable[Field]) -> dict[str, Any]:
    """One object of these names and their values. A repeated name is a list.

    Raises: InvalidRequest if one name is two things.
    """
    data: dict[str, Any] = {}
    for name, values in fields:
        matched = _NAME.fullmatch(name)
        if matched is None:
            data[name] = values[-1] if values else None
        else:
            _put(data, [matched[1], *_PART.findall(matched[2])], values)
    return data


def nest_json(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same body, unless it has names of forms. Raises: InvalidRequest."""
    if not any("[" in name for name in body):
        return body
    lists = {name for name, value in body.items() if name.endswith("]") and type(value) is list}
    return nest((name, value if name in lists else [value]) for name, value in body.items())


def find_objects(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]] | None:
    """The objects of the list with this name, in order. None if the request has no such list.

    Raises: InvalidRequest.
    """
    sent = data.get(name)
    if sent in (None, ""):
        return None
    items = _in_order(sent) if isinstance(sent, Mapping) else sent
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise InvalidRequest(f"{name} must be a list of objects")
    return items


def find_object(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """The object with this name. None if the request has none. Raises: InvalidRequest."""
    sent = data.get(name)
    if sent is None:
        return None
    if not isinstance(sent, Mapping):
        raise InvalidRequest(f"{name} must be an object")
    return sent


def find_list(data: Mapping[str, Any], name: str, most: int | None = None) -> list[Any] | None:
    """The values of a list, of which one may be sent alone. None if the request has none.

    Blank texts are left out, as in Mastodon: forms send one to say that a list is empty. They count
    for `most`. Raises: InvalidRequest.
    """
    if name not in data:
        return None
    sent = data[name]
    if isinstance(sent, Mapping):
        raise InvalidRequest(f"{name} must be a list")
    values = sent if isinstance(sent, list) else [] if sent is None else [sent]
    if most is not None and len(values) > most:
        raise InvalidRequest(f"{name} has more than {most} values")
    return [value for value in values if not (isinstance(value, str) and not value.strip())]


def find_texts(data: Mapping[str, Any], name: str) -> Sequence[str] | None:
    """As `find_list`, of texts only. Raises: InvalidRequest."""
    sent = find_list(data, name)
    return None if sent is None else [clean_text(text, name) for text in sent]


def _in_order(numbered: Mapping[str, Any]) -> list[Any]:
    """The values by the numbers that are their names."""
    if not all(_NUMBER.fullmatch(name) for name in numbered):
        return list(numbered.values())
    return [numbered[name] for name in sorted(numbered, key=int)]


def _put(place: dict[str, Any], path: Sequence[str], values: Sequence[Any]) -> None:
    """Puts the values at `path` below `place`."""
    name, *deeper = path
    if not deeper:
        _put_plain(place, name, values)
    elif deeper == [""]:
        _below(place, name, list).extend(values)
    elif deeper[0] == "":
        _put_into_objects(_below(place, name, list), name, deeper[1:], values)
    else:
        _put(_below(place, name, dict), deeper, values)


def _put_plain(place: dict[str, Any], name: str, values: Sequence[Any]) -> None:
    if name in place:
        raise _two_things(name)
    if values:
        place[name] = values[0] if len(values) == 1 else list(values)


def _put_into_objects(
    objects: list[Any], name: str, path: Sequence[str], values: Sequence[Any]
) -> None:
    """The first value belongs to the first object, and so on."""
    if len(values) > _MOST_OBJECTS:
        raise InvalidRequest(f"{name} has more than {_MOST_OBJECTS} objects")
    objects.extend({} for _ in range(len(values) - len(objects)))
    for item, value in zip(objects, values, strict=False):
        if not isinstance(item, dict):
            raise _two_things(name)
        _put(item, path, [value])


def _below(place: dict[str, Any], name: str, kind: type[Any]) -> Any:
    inner = place.setdefault(name, kind())
    if not isinstance(inner, kind):
        raise _two_things(name)
    return inner


def _two_things(name: str) -> InvalidRequest:
    return InvalidRequest(f"{name[:40]} is sent in two forms")
