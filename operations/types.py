"""The content of operators' pages: facts, figures, and the results of the finder."""

from collections.abc import Sequence
from typing import NamedTuple

UNKNOWN = "not known"


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


class Figure(NamedTuple):
    """One figure of the first page, in words. `note`: what it counts, or why it is not known.

    `url`: the page to open next; empty if the viewer may open none. `is_bad`: an alert would fire.
    """

    name: str
    value: str
    note: str
    url: str = ""
    is_bad: bool = False


class SearchResult(NamedTuple):
    """A possible meaning of the operator's text, and the address of its page."""

    title: str
    url: str
