"""How the admin shows a state and a time: as a chip, and as an age."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

JUST_NOW = timedelta(minutes=1)


def chip(text: object, kind: str = "") -> SafeString:
    """`kind`: "open" for what waits, "warn" for what is restricted; empty for all else."""
    return format_html('<span class="chip {}">{}</span>', kind, text)


def chips(texts: Iterable[object], kind: str = "") -> SafeString:
    """Empty for none."""
    return format_html_join(" ", '<span class="chip {}">{}</span>', ((kind, t) for t in texts))


def age(at: datetime | None) -> SafeString:
    """How long ago, in the largest unit. The exact time is its title. Empty for no time."""
    if at is None:
        return SafeString("")
    shown = "just now" if datetime.now(UTC) - at < JUST_NOW else f"{timesince(at, depth=1)} ago"
    exact = f"{at:%Y-%m-%d %H:%M} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, shown)
