"""The figures of the admin's first page: what operators and moderators look at first.

The first page's figures of requests and changes, out of the compensators' samples. No store.

A figure without a sample is "not known", with the reason, and never a zero.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from math import isinf

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
from operations.queries.traffic import WINDOW_S, Traffic, read_traffic
from operations.types import UNKNOWN, Figure
from timelines.cache import ask_public_list

NO_SAMPLE = f"No compensator took two samples of one machine in {WINDOW_S // 60} minutes."
NO_REPORT = "No compensator reported in the last minute."
REQUESTS = ("Requests a second", "Wall time, p50 / p99", "Answers that failed")
CHANGES = ("Delay of delivery", "Parked changes")
# Above these, alerts of deploy/prometheus/alerts.yml fire.
HIGH_RATIO, HIGH_DELAY_S = 0.01, 60


def request_figures(traffic: Traffic | None, problem: str) -> Iterator[Figure]:
    """`problem`: why there is no traffic, if a store is the reason."""
    url = reverse("operations")
    if traffic is None:
        yield from (Figure(name, UNKNOWN, problem or NO_SAMPLE, url) for name in REQUESTS)
        return
    rate, times, failed = REQUESTS
    where = f"on {traffic.machine}, in the last {WINDOW_S // 60} minutes"
    is_bad = (traffic.failed_ratio or 0) > HIGH_RATIO
    yield Figure(rate, f"{traffic.per_s:,.1f}", where, url)
    yield Figure(times, _times(traffic), "of all routes there", url)
    yield Figure(failed, _percent(traffic.failed_ratio), "with a status of 5xx", url, is_bad)


def change_figures(
    reports: Mapping[str, LagReport], aliases: Sequence[str], problem: str
) -> Iterator[Figure]:
    """The delay is the age of the oldest ordinary change of any database that is not delivered.

    `problem`: why there are no reports, if a store is the reason.
    """
    delay, parked = CHANGES
    charts, page = reverse("operations"), reverse("parked_changes")
    if not reports:
        yield Figure(delay, UNKNOWN, problem or NO_REPORT, charts)
        yield Figure(parked, UNKNOWN, problem or NO_REPORT, page)
        return
    lags = [lag for report in reports.values() for lag in report.lags]
    oldest_s = max((i.oldest_s for i in lags if group_of(i.lane) is LaneGroup.ORDINARY), default=0)
    with_parked = [lag for lag in lags if lag.parked]
    count, lack = sum(lag.parked for lag in with_parked), _lack(reports, aliases)
    where = f"{page}?shard={with_parked[0].alias}" if with_parked else page
    high = oldest_s > HIGH_DELAY_S
    yield Figure(delay, f"{oldest_s:,.1f} s", f"the oldest pending change{lack}", charts, high)
    yield Figure(parked, f"{count:,}", f"wait for an operator{lack}", where, count > 0)


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


def list_figures(may: Callable[[str], bool], now: datetime) -> list[Figure]:
    """The figures for a viewer with these permissions; none for other staff.

    A store that fails raises nothing, except the default database, without which there is no
    admin. Cost: one query; for operators one more, and three round trips to Redis. The wait for
    Redis, and for shards where the public timeline is not cached, is 2.5 s at most.
    """
    operates, moderates = may(OPERATE), may(SEE_REPORTS)
    figures: list[Figure] = []
    if operates or moderates:
        figures += _of_moderation(count_waiting(), now, moderates)
    if operates:
        figures += _of_the_site(now)
    return figures


def _of_the_site(now: datetime) -> Iterator[Figure]:
    at_s, aliases = now.timestamp(), all_aliases()
    calls: dict[str, Callable[[], object]] = {
        "Redis": lambda: (read_traffic(at_s), LAG.read(aliases)),
        "The public timeline": partial(_count_authors, at_s - DAY.total_seconds()),
    }
    redis, authors = probe_all(calls).values()
    traffic, reports = redis.value or (None, {})
    yield from request_figures(traffic, redis.problem)
    yield from change_figures(reports, aliases, redis.problem)
    yield _of_sign_ups(count_sign_ups(now - DAY, MOST_SIGN_UPS))
    yield _of_authors(authors)


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
        return Figure(name, UNKNOWN, answered.problem, url)
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
    yield Figure("Open reports", count, note, reports if may_open else "", is_late)
    count = _up_to(MOST_COUNTED, waiting.appeals)
    yield Figure("Open appeals", count, "for a decision", appeals if may_open else "")


def _up_to(most: int, count: int) -> str:
    return f"{most:,} or more" if count >= most else f"{count:,}"
