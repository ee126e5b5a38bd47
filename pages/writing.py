"""How a language writes times and counts.

A page has a hundred of them. So their words are looked up once for each language, and not once for
each post: a lookup takes longer than all else that is done here.
"""

from datetime import UTC, datetime
from functools import cache
from math import ceil

from django.utils.dates import MONTHS, MONTHS_3
from django.utils.formats import get_format
from django.utils.translation import gettext, override, pgettext

from pages.appearance import page_zone

THOUSAND, MILLION = 1_000, 1_000_000
MINUTE_S, HOUR_S, DAY_S, WEEK_S = 60, 3_600, 86_400, 7 * 86_400


class Writing:
    """Filters of templates in one language. Times are those of the API, as text."""

    def __init__(self, language: str) -> None:
        with override(language):
            self._months = [str(MONTHS[month]) for month in range(1, 13)]
            self._short_months = [str(MONTHS_3[month]).capitalize() for month in range(1, 13)]
            self._day = gettext("%(day)s %(month)s %(year)s")
            self._day_of_year = gettext("%(day)s %(month)s")
            self._moment = gettext("%(day)s, %(time)s")
            # Translators: how long ago something was, as short as it goes.
            units = gettext("%(number)sd"), gettext("%(number)sh"), gettext("%(number)sm")
            self._units = tuple(zip((DAY_S, HOUR_S, MINUTE_S), units, strict=True))
            self._now = gettext("now")
            self._near_days = {0: gettext("Today"), 1: gettext("Yesterday")}
            self._thousands = pgettext("thousands", "%(number)sk")
            self._millions = pgettext("millions", "%(number)sm")
            self._point = get_format("DECIMAL_SEPARATOR", language, use_l10n=True)

    def day(self, text: str) -> str:
        """The day of a time: 1 January 2026. It is read in place: 2026-01-01T12:00:00Z."""
        month = self._months[int(text[5:7]) - 1]
        return self._day % {"day": int(text[8:10]), "month": month, "year": text[:4]}

    def named_day(self, text: str) -> str:
        """The day of a time in the person's time zone: Today, Yesterday, 1 January 2026."""
        zone = page_zone()
        there = datetime.fromisoformat(text).astimezone(zone)
        days_ago = (datetime.now(zone).date() - there.date()).days
        return self._near_days.get(days_ago) or self.day(there.isoformat())

    def clock(self, text: str) -> str:
        """The time of day in the person's time zone: 12:00, or 12:00 UTC."""
        zone = page_zone()
        there = datetime.fromisoformat(text).astimezone(zone)
        return f"{there:%H:%M} UTC" if zone is UTC else f"{there:%H:%M}"

    def moment(self, text: str) -> str:
        """A time for people, in their time zone: 1 January 2026, 12:00 UTC."""
        zone = page_zone()
        if zone is UTC:
            return self._moment % {"day": self.day(text), "time": f"{text[11:16]} UTC"}
        there = datetime.fromisoformat(text).astimezone(zone)
        return self._moment % {"day": self.day(there.isoformat()), "time": f"{there:%H:%M}"}

    def field_moment(self, text: str) -> str:
        """The time of a field of a form, which is in the person's time zone, as `moment` writes
        it. Empty if it is no time."""
        try:
            there = datetime.fromisoformat(text).replace(tzinfo=page_zone())
            return self.moment(there.isoformat())
        except (ValueError, OverflowError):
            return ""

    def ago(self, text: str) -> str:
        """How long ago a time was, short: 5m, 3h, 2d; the day if it was over a week ago."""
        when, now = datetime.fromisoformat(text), datetime.now(UTC)
        age_s = int((now - when).total_seconds())
        if age_s >= WEEK_S:
            return self._short_day(when, when.year == now.year)
        for unit_s, name in self._units:
            if age_s >= unit_s:
                return name % {"number": age_s // unit_s}
        return self._now

    def left(self, text: str) -> str:
        """How long until a time, short and rounded up: 5m, 25h, 12d. Empty once it is over."""
        left_s = (datetime.fromisoformat(text) - datetime.now(UTC)).total_seconds()
        if left_s <= 0:
            return ""
        *longer, shortest = self._units
        unit_s, name = next((unit for unit in longer if left_s > 2 * unit[0]), shortest)
        return name % {"number": ceil(left_s / unit_s)}

    def _short_day(self, when: datetime, is_this_year: bool) -> str:
        month = self._short_months[when.month - 1]
        pattern = self._day_of_year if is_this_year else self._day
        return pattern % {"day": when.day, "month": month, "year": when.year}

    def short(self, number: int) -> str:
        """A count in at most four characters and a letter: 999, 1.2k, 34k, 5.6m."""
        if number < THOUSAND:
            return str(number)
        if number < MILLION:
            return self._thousands % {"number": self._with_point(number // 100)}
        return self._millions % {"number": self._with_point(number // 100_000)}

    def _with_point(self, tenths: int) -> str:
        whole, tenth = divmod(tenths, 10)
        return str(whole) if tenths >= 100 else f"{whole}{self._point}{tenth}"


@cache
def writing_of(language: str) -> Writing:
    return Writing(language)
