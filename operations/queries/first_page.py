"""The figures of the admin's first page: what operators and moderators look at first.

The first page's figures of requests and changes, out of the compensators' samples. No store. A
sentence above them says how all is.

A figure without a sample is "not known", with the reason, and never a zero.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from math import isinf
from typing import NamedTuple

import msgspec
from django.urls import reverse
from django.utils.timesince import timesince

from accounts.queries.users import count_sign_ups
from infra.caching.questions import answer
from infra.changes.lag import LAG, LagReport
from infra.changes.lanes import LaneGroup, group_of
from infra.jobs.models import OPERATE
from infra.sharding.probe import ProbeAnswer, probe_all
from infra.sharding.shards import all_aliases
from moderation.queries.waiting import MOST_COUNTED, WaitingCounts, count_waiting
from operations.day import POINT_S, DayPoint, read_day
from operations.queries.curves import (
    Curves,
    Fleet,
    Series,
    draw_curves,
    hour_curves,
    memory_percent,
)
from operations.queries.traffic import WINDOW_S, Traffic, measure
from operations.samples import SLOT_COUNT, SLOT_S, read_samples
from operations.types import UNKNOWN, Chapter, Curve, CurveSpan, Figure, Level, SpanChoice
from timelines.cache import ask_public_list

NO_SAMPLE = f"No compensator took two samples of one machine in {WINDOW_S // 60} minutes."
NO_REPORT = "No compensator reported in the last minute."
REQUESTS = ("Requests a second", "Wall time, p50 / p99", "Answers that failed")
CHANGES = ("Delay of delivery", "Parked changes")
QUEUES = ("Open reports", "Open appeals")
RANK = [*Level].index
# Above the second of each pair, alerts of deploy/prometheus/alerts.yml fire.
RATIO_LEVELS, DELAY_LEVELS_S, MEMORY_LEVELS = (0.002, 0.01), (20, 60), (80, 95)


def request_figures(fleet: Fleet, now_s: float, problem: str, curves: Curves) -> Iterator[Figure]:
    """`problem`: why there is no traffic, if a store is the reason."""
    url, traffic = reverse("operations"), measure(fleet, now_s)
    if traffic is None:
        yield from (_unknown(name, problem or NO_SAMPLE, url) for name in REQUESTS)
        return
    rate, times, failed = REQUESTS
    where = f"on {traffic.machine}, in the last {WINDOW_S // 60} minutes"
    level = _level(traffic.failed_ratio or 0, RATIO_LEVELS)
    yield Figure(rate, f"{traffic.per_s:,.1f}", where, url, curve=curves.rate)
    yield Figure(times, _times(traffic), "of all routes there", url)
    note = f"with a status of 5xx; act above {RATIO_LEVELS[1]:.0%}"
    shown = _percent(traffic.failed_ratio)
    yield Figure(failed, shown, note, url, level, Chapter.MONITOR, curves.failed)


def change_figures(
    reports: Mapping[str, LagReport], aliases: Sequence[str], problem: str, curves: Curves
) -> Iterator[Figure]:
    """The delay is the age of the oldest ordinary change of any database that is not delivered.

    `problem`: why there are no reports, if a store is the reason.
    """
    delay, parked = CHANGES
    charts, page = reverse("operations"), reverse("parked_changes")
    if not reports:
        yield _unknown(delay, problem or NO_REPORT, charts)
        yield _unknown(parked, problem or NO_REPORT, page)
        return
    lags = [lag for report in reports.values() for lag in report.lags]
    oldest_s = max((i.oldest_s for i in lags if group_of(i.lane) is LaneGroup.ORDINARY), default=0)
    with_parked = [lag for lag in lags if lag.parked]
    count, lack = sum(lag.parked for lag in with_parked), _lack(reports, aliases)
    where = f"{page}?shard={with_parked[0].alias}" if with_parked else page
    level = max(_level(oldest_s, DELAY_LEVELS_S), Level.WATCH if lack else Level.FINE, key=RANK)
    note = f"the oldest pending change; act above {DELAY_LEVELS_S[1]} s{lack}"
    chapter = Chapter.STORES if lack else Chapter.MONITOR
    yield Figure(delay, f"{oldest_s:,.1f} s", note, charts, level, chapter, curves.delay)
    level = Level.ACT if count else Level.FINE
    note = f"wait for an operator{lack}"
    yield Figure(parked, f"{count:,}", note, where, level, Chapter.PARKED, curves.parked)


def memory_figures(fleet: Fleet, curve: Curve | None) -> Iterator[Figure]:
    """None without a sample, or without a limit of Redis' memory."""
    percent = memory_percent(fleet[max(fleet)]) if fleet else None
    if percent is not None:
        level, url = _level(percent, MEMORY_LEVELS), reverse("operations")
        note = f"of its limit; act above {MEMORY_LEVELS[1]} %"
        yield Figure("Memory of Redis", f"{percent:.0f} %", note, url, level, Chapter.REDIS, curve)


def sentence_of(figures: Sequence[Figure], waiting: WaitingCounts) -> str:
    """How all is, in words: "Everything is delivered. 1 report waits." """
    named = {figure.name: figure for figure in figures}
    words = [_delivery(named[CHANGES[0]], named[CHANGES[1]])] if CHANGES[0] in named else []
    others = [f for f in figures if not f.is_fine and f.name not in (*CHANGES, *QUEUES)]
    words += [f"{_count(len(others), 'other figure')} not fine."] if others else []
    words += [f"{_waits(waiting.reports, 'report')}."]
    words += [f"{_waits(waiting.appeals, 'appeal')}."] if waiting.appeals else []
    return " ".join(words)


def _delivery(delay: Figure, parked: Figure) -> str:
    if UNKNOWN in (delay.value, parked.value):
        return "It is not known whether everything is delivered."
    late = f"Delivery is {delay.value} late." if _is_late(delay) else ""
    changes = "change is" if parked.value == "1" else "changes are"
    kept = f"{parked.value} {changes} parked." if not parked.is_fine else ""
    return " ".join(filter(None, (late, kept))) or "Everything is delivered."


def _is_late(delay: Figure) -> bool:
    return delay.level is Level.ACT


def _waits(count: int, what: str) -> str:
    if not count:
        return f"No {what} waits"
    return f"{_up_to(MOST_COUNTED, count)} {what}{' waits' if count == 1 else 's wait'}"


def _count(count: int, what: str) -> str:
    return f"1 {what} is" if count == 1 else f"{count} {what}s are"


def _level(value: float, levels: tuple[float, float]) -> Level:
    watch, act = levels
    return Level.ACT if value > act else Level.WATCH if value > watch else Level.FINE


def _unknown(name: str, why: str, url: str) -> Figure:
    return Figure(name, UNKNOWN, why, url, Level.WATCH)


def _lack(reports: Mapping[str, LagReport], aliases: Sequence[str]) -> str:
    missing = [alias for alias in aliases if alias not in reports]
    return f"; not known of {', '.join(missing)}" if missing else ""


def _times(traffic: Traffic) -> str:
    if traffic.p50_s is None or traffic.p99_s is None:
        return "none"
    return f"{_milliseconds(traffic.p50_s)} / {_milliseconds(traffic.p99_s)} ms"


def _milliseconds(seconds: float) -> str:
    return "above 5,000" if isinf(seconds) else f"{seconds * 1_000:,.1f}"


def _percent(ratio: float | None) -> str:
    return "none" if ratio is None else f"{ratio:.2%}"


SEE_REPORTS = "moderation.view_report"
DAY = timedelta(days=1)
MOST_SIGN_UPS = 10_000


class Overview(NamedTuple):
    """`sentence`: empty for staff who see no figure. `troubles`: the figures that are not fine.
    `spans`: those of the curves; empty for staff who see none.
    """

    sentence: str
    troubles: Sequence[Figure]
    figures: Sequence[Figure]
    spans: Sequence[SpanChoice] = ()


def read_overview(
    may: Callable[[str], bool], now: datetime, span: CurveSpan = CurveSpan.HOUR
) -> Overview:
    """For a viewer with these permissions; empty for other staff.

    A store that fails raises nothing, except the default database, without which there is no
    admin. Cost: one query; for operators one more, and three round trips to Redis, four for the
    curves of a day. The wait for Redis, and for shards where the public timeline is not cached, is
    2.5 s at most.
    """
    operates, moderates = may(OPERATE), may(SEE_REPORTS)
    if not (operates or moderates):
        return Overview("", (), ())
    waiting = count_waiting()
    figures = [
        *_of_moderation(waiting, now, moderates),
        *(_of_the_site(now, span) if operates else ()),
    ]
    fine = [figure for figure in figures if figure.is_fine]
    troubles = [figure for figure in figures if not figure.is_fine]
    troubles.sort(key=lambda figure: RANK(figure.level), reverse=True)
    spans = [SpanChoice(each, each.label, each is span) for each in CurveSpan] if operates else []
    return Overview(sentence_of(figures, waiting), troubles, fine, spans)


def _of_the_site(now: datetime, span: CurveSpan) -> Iterator[Figure]:
    at_s, aliases = now.timestamp(), all_aliases()
    calls: dict[str, Callable[[], object]] = {
        "Redis": lambda: (*READERS[span](at_s), LAG.read(aliases)),
        "The public timeline": partial(_count_authors, at_s - DAY.total_seconds()),
    }
    redis, authors = probe_all(calls).values()
    fleet, curves, reports = redis.value or ({}, Curves(), {})
    yield from change_figures(reports, aliases, redis.problem, curves)
    yield from request_figures(fleet, at_s, redis.problem, curves)
    yield from memory_figures(fleet, curves.memory)
    yield _of_sign_ups(count_sign_ups(now - DAY, MOST_SIGN_UPS))
    yield _of_authors(authors)


def _read_hour(at_s: float) -> tuple[Fleet, Curves]:
    databases, fleet = read_samples(at_s - SLOT_COUNT * SLOT_S)
    return fleet, hour_curves(databases, fleet, at_s)


def _read_day(at_s: float) -> tuple[Fleet, Curves]:
    """The figures are of now, so they need the newest samples all the same."""
    _, fleet = read_samples(at_s - WINDOW_S)
    unknown = DayPoint(None, None, None, None, None)
    points = [point or unknown for point in read_day(at_s)]
    columns = zip(*(msgspec.structs.astuple(point) for point in points), strict=True)
    return fleet, draw_curves(Series(*map(list, columns)), POINT_S)


READERS = {CurveSpan.HOUR: _read_hour, CurveSpan.DAY: _read_day}


def _count_authors(since_s: float) -> tuple[int, int]:
    """The authors of the listed public posts since then, and the number of these posts."""
    posts = [post for post in answer(ask_public_list()).listed if post.posted_at_s > since_s]
    return len({post.author_id for post in posts}), len(posts)


def _of_sign_ups(count: int) -> Figure:
    url = reverse("admin:accounts_user_changelist")
    return Figure("Sign-ups", _up_to(MOST_SIGN_UPS, count), "in the last 24 hours", url)


def _of_authors(answered: ProbeAnswer) -> Figure:
    """Who only reads is not counted: no table or cache says it."""
    name, url = "People who post", "/public"
    if answered.problem:
        return _unknown(name, answered.problem, url)
    people, posts = answered.value
    note = f"the authors of the newest {posts} public posts, of 24 hours at most"
    return Figure(name, f"{people:,}", note, url)


def _of_moderation(waiting: WaitingCounts, now: datetime, may_open: bool) -> Iterator[Figure]:
    """Operators see how many wait, and may open none."""
    oldest = waiting.oldest_report_at
    note = f"the oldest for {timesince(oldest, now)}" if oldest else "none is open"
    is_late = oldest is not None and now - oldest > DAY
    reports = reverse("admin:moderation_report_changelist")
    appeals = f"{reverse('admin:moderation_appeal_changelist')}?state__exact=pending"
    count = _up_to(MOST_COUNTED, waiting.reports)
    level, url = Level.ACT if is_late else Level.FINE, reports if may_open else ""
    yield Figure(QUEUES[0], count, note, url, level, Chapter.MODERATE)
    count = _up_to(MOST_COUNTED, waiting.appeals)
    yield Figure(QUEUES[1], count, "for a decision", appeals if may_open else "")


def _up_to(most: int, count: int) -> str:
    return f"{most:,} or more" if count >= most else f"{count:,}"
