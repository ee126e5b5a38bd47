"""A call as a value: what is asked, and what the answer is. Nothing here waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from tideline_client.errors import NotFound

T = TypeVar("T")
Scalar = str | int | bool


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request.

    `answer`: the type that the answer is read as; None: the answer has no content.
    `files`: with these the body is sent as a form.
    `is_repeatable`: a second one changes nothing more, so it is tried again after a failure.
    """

    method: str
    path: str
    answer: type[T]
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    files: Mapping[str, bytes] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False


def path_part(value: object) -> str:
    """An id as a part of a path. Raises: NotFound for `.` and `..`: nothing has such an id, and the
    request would go to another address."""
    text = str(value)
    if text in (".", ".."):
        raise NotFound(404, f"nothing has the id {text!r}")
    return quote(text, safe="")


def query_of(
    parameters: Mapping[str, Scalar | Sequence[Scalar] | None],
) -> dict[str, str | list[str]]:
    """The parameters that are not None, as texts."""
    sent = {name: value for name, value in parameters.items() if value is not None}
    return {name: _as_text(value) for name, value in sent.items()}


def body_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not None: the others are not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def _as_text(value: Scalar | Sequence[Scalar]) -> str | list[str]:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    return [str(each) for each in value]
