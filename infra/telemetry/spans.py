"""Pieces of work that a tracer may time; without one they cost a function call."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

Attributes = Mapping[str, str | int]
Begin = Callable[[str, Attributes], AbstractContextManager[object]]


def _untraced(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    return nullcontext()


_begin: Begin = _untraced


def trace_with(begin: Begin) -> None:
    """For the whole process, once; `begin` is called for every piece."""
    global _begin
    _begin = begin


def span(name: str, attributes: Attributes) -> AbstractContextManager[object]:
    """Dotted names, as of log events. Values that are few, or ids."""
    return _begin(name, attributes)
