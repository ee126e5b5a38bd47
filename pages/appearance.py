"""How the pages look in one browser: what its person chose under Appearance, in a cookie.

It is no part of the account: the telephone may be dark, and the desk bright.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from infra.languages import is_language
from pages.texts import later as _

COOKIE = "tideline_look"
A_YEAR_S = 365 * 86_400
# Without a choice the machine decides, and the time is UTC.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "theme": {"": _("Same as the device"), "light": _("Light"), "dark": _("Dark")},
    "size": {"small": _("Small"), "": _("Normal"), "large": _("Large"), "huge": _("Huge")},
    "density": {"": _("Comfortable"), "compact": _("Compact")},
}
_MOST_LOOKS = 256


class Appearance(NamedTuple):
    """Empty texts are the usual look. `zone`: the name of a time zone. `keys`: off, or empty.
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

    def find_zone(self) -> ZoneInfo | None:
        """None: UTC."""
        return ZoneInfo(self.zone) if self.zone else None


def keep_appearance(answer: HttpResponse, look: Appearance) -> None:
    """In a cookie of this browser."""
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_cookie(COOKIE, look.as_cookie(), max_age=A_YEAR_S, samesite="Lax", secure=secure)


def appearance_of(request: HttpRequest) -> Appearance:
    return read_appearance(request.COOKIES.get(COOKIE, ""))


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
        zone=zone if zone in zone_names() else "",
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
