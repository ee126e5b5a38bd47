"""The figures of the admin's first page: what operators and moderators look at first."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.urls import reverse
from django.utils.timesince import timesince

from accounts.queries.users import count_sign_ups
from infra.caching.questions import answer
from infra.changes.lag import LAG
from infra.jobs.models import OPERATE
from infra.sharding.probe import ProbeAnswer, probe_all
from infra.sharding.shards import all_aliases
from moderation.queries.waiting import MOST_COUNTED, WaitingCounts, count_waiting
from operations.queries.fleet_figures import change_figures, request_figures
from operations.queries.traffic import read_traffic
from operations.types import UNKNOWN, Figure
from timelines.cache import ask_public_list

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
