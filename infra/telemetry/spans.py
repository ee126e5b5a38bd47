"""Spans: pieces of work that a tracer may time. Without a tracer a span costs one function call."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

Attributes = Mapping[str, str | int]
Begin = Callable[[str, Attributes], AbstractContextManager[object]]


def _untraced(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    return nullcontext()


_begin: Begin = _untraced


def trace_with(begin: Begin) -> None:
    """Sets the tracer of the whole process. `begin` is called for every span."""
    global _begin
    _begin = begin


def span(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    """Names are dotted, like log events. Attribute values are ids or from a small set."""
    return _begin(name, attributes)
