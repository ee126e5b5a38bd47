"""The content of operators' pages: facts, figures, and the results of the finder."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from django.db.models import TextChoices

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


class Level(StrEnum):
    """How a figure is, as its chip says it. ACT: an alert would fire."""

    FINE = "fine"
    WATCH = "watch it"
    ACT = "act now"


class Chapter(TextChoices):
    """The chapters of the manual that say what to do."""

    PARKED = "parked", "Changes are parked"
    MONITOR = "monitor", "Alerts"
    STORES = "stores", "A store fails"
    REDIS = "redis", "Redis"
    MODERATE = "moderate", "Moderate"


class CurveSpan(TextChoices):
    """What the curves of the first page show, as its address says it."""

    HOUR = "hour", "last hour"
    DAY = "day", "last 24 hours"


class SpanChoice(NamedTuple):
    """A span to choose."""

    value: str
    label: str
    is_shown: bool


class Curve(NamedTuple):
    """The values of a span. `path`: of an SVG, as wide and high as operations.queries.curves says.
    `top`: the highest value. `words`: the same for who does not see it.
    """

    path: str
    top: str
    words: str


class Figure(NamedTuple):
    """One figure of the first page, in words. `note`: what it counts, or why it is not known.

    `url`: the page to open next; empty if the viewer may open none. `chapter`: what to do if it is
    not fine.
    """

    name: str
    value: str
    note: str
    url: str = ""
    level: Level = Level.FINE
    chapter: Chapter = Chapter.MONITOR
    curve: Curve | None = None

    @property
    def is_fine(self) -> bool:
        return self.level is Level.FINE


class SearchResult(NamedTuple):
    """A possible meaning of the operator's text, and the address of its page."""

    title: str
    url: str
