"""The content of operators' pages, and the results of the finder."""

from collections.abc import Sequence
from typing import NamedTuple


class Fact(NamedTuple):
    """A line of a page. `url`: the target of a link on the value."""

    name: str
    value: object
    url: str = ""


class Section(NamedTuple):
    """Facts with a title. `problem`: why there are no facts."""

    title: str
    facts: Sequence[Fact] = ()
    problem: str = ""


class SearchResult(NamedTuple):
    """A possible meaning of the operator's text, and the address of its page."""

    title: str
    url: str
