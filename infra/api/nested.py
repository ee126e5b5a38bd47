"""Reads lists and objects inside a request, as JSON and forms send them.

{"fields": [{"name": "a"}, {"name": "b"}]}          JSON
{"fields": {"0": {"name": "a"}}}                    JSON of some clients
fields[0][name]=a&fields[1][name]=b                 a form
fields[][name]=a&fields[][name]=b                   a form of Rails' clients
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from infra.api.errors import InvalidRequest
from infra.api.parsing import clean_text

_PART = re.compile(r"(\w+)\[(\d{0,3})\]\[(\w+)\]")


def find_objects(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]] | None:
    """The objects of the list with this name, in order. None if the request has no such list.

    Raises: InvalidRequest.
    """
    whole = data.get(name)
    sent = list(whole.values()) if isinstance(whole, Mapping) else whole
    if sent in (None, ""):
        return _find_in_form(data, name)
    if not isinstance(sent, list) or not all(isinstance(one, Mapping) for one in sent):
        raise InvalidRequest(f"{name} must be a list of objects")
    return sent


def find_texts(data: Mapping[str, Any], name: str) -> Sequence[str] | None:
    """The texts of a list, or of repeated fields with or without `[]`. None if there is none.

    Raises: InvalidRequest.
    """
    if isinstance(data, QueryDict):
        sent: object = data.getlist(f"{name}[]") or data.getlist(name) or None
    else:
        sent = data.get(name, data.get(f"{name}[]"))
    if sent is None:
        return None
    if not isinstance(sent, list):
        raise InvalidRequest(f"{name} must be a list")
    return [clean_text(one, name) for one in sent]


def _find_in_form(data: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]] | None:
    found: dict[int, dict[str, Any]] = {}
    for key in data:
        part = _PART.fullmatch(key)
        if part is None or part[1] != name:
            continue
        if part[2]:
            found.setdefault(int(part[2]), {})[part[3]] = data[key]
        else:
            values = data.getlist(key) if isinstance(data, QueryDict) else [data[key]]
            for number, value in enumerate(values):
                found.setdefault(number, {})[part[3]] = value
    return [found[number] for number in sorted(found)] if found else None
