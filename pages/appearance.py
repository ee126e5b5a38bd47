"""How the pages look in one browser: what its person chose under Appearance, in a cookie.

It is no part of the account: the telephone may be dark, and the desk bright.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, tzinfo
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from infra.languages import is_language
from pages.texts import later as _

COOKIE = "tideline_look"
# A script of the pages writes the name of the browser's time zone here.
ZONE_COOKIE = "tideline_zone"
UTC_NAME = "UTC"
A_YEAR_S = 365 * 86_400
# Without a choice the machine decides.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "theme": {"": _("Same as the device"), "light": _("Light"), "dark": _("Dark")},
    "size": {"small": _("Small"), "": _("Normal"), "large": _("Large"), "huge": _("Huge")},
    "density": {"": _("Comfortable"), "compact": _("Compact")},
}
_MOST_LOOKS = 256
# Not that of Django, which takes longer to find than to write a time with.
_zone: ContextVar[tzinfo] = ContextVar("tideline_page_zone", default=UTC)


class Appearance(NamedTuple):
    """Empty texts are the usual look. `zone`: the name of a time zone; empty: that of the browser.
    `keys`: off, or empty.
    `language`: of the person's account (accounts.models.User); empty: that of the browser.
    """

    theme: str = ""
    size: str = ""
    density: str = ""
    zone: str = ""
    keys: str = ""
    language: str = ""

    def as_cookie(self) -> str:
        return urlencode({name: value for name, value in self._asdict().items() if value})


def keep_appearance(answer: HttpResponse, look: Appearance) -> None:
    """In a cookie of this browser."""
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_cookie(COOKIE, look.as_cookie(), max_age=A_YEAR_S, samesite="Lax", secure=secure)


def appearance_of(request: HttpRequest) -> Appearance:
    return read_appearance(request.COOKIES.get(COOKIE, ""))


def browser_zone_of(request: HttpRequest) -> str:
    """The name of the browser's time zone; empty if it is not known, as without scripts."""
    name = request.COOKIES.get(ZONE_COOKIE, "")
    return name if find_zone(name) else ""


def zone_of(request: HttpRequest) -> tzinfo:
    """The time zone in which the pages write times: the chosen one, or that of the browser. Without
    both it is UTC."""
    return find_zone(appearance_of(request).zone or browser_zone_of(request)) or UTC


@contextmanager
def in_zone(zone: tzinfo) -> Iterator[None]:
    """In the block pages write times in this time zone."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)


def page_zone() -> tzinfo:
    """The time zone of the page that is made; UTC outside of pages."""
    return _zone.get()


@lru_cache(_MOST_LOOKS)
def find_zone(name: str) -> tzinfo | None:
    """None if there is no such time zone."""
    if name == UTC_NAME:
        return UTC
    return ZoneInfo(name) if name in zone_names() else None


@lru_cache(_MOST_LOOKS)
def read_appearance(cookie: str) -> Appearance:
    """Of a cookie. What is no choice is left out: anybody can write a cookie."""
    return known_appearance(dict(parse_qsl(cookie[:256])))


def known_appearance(sent: Mapping[str, str]) -> Appearance:
    """The choices that there are, of what a form or a cookie has."""
    known = {name: sent[name] for name, names in CHOICES.items() if sent.get(name) in names}
    zone = sent.get("zone", "")
    keys = "off" if sent.get("keys") == "off" else ""
    language = sent.get("language", "")
    return Appearance(
        **known,
        zone=zone if find_zone(zone) else "",
        keys=keys,
        language=language if is_language(language) else "",
    )


@cache
def zone_names() -> tuple[str, ...]:
    """The zones that have the name of a place, in their order."""
    places = (
        "Africa/",
        "America/",
        "Asia/",
        "Atlantic/",
        "Australia/",
        "Europe/",
        "Indian/",
        "Pacific/",
    )
    return tuple(sorted(name for name in available_timezones() if name.startswith(places)))
