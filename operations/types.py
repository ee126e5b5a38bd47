"""What pages of facts are made of, and what can be looked for."""

from collections.abc import Sequence
from typing import NamedTuple


class Fact(NamedTuple):
    """A line of a page. `url`: where the value leads to."""

    name: str
    value: object
    url: str = ""


class Section(NamedTuple):
    """Facts of one place. `problem`: why there are none."""

    title: str
    facts: Sequence[Fact] = ()
    problem: str = ""


class SearchResult(NamedTuple):
    """Something that a text may mean, and where its page is."""

    title: str
    url: str
