"""The operators' page of hot keys.

Runs of commands in the admin: to read, by pages of keys.

The page with the notifications of an account, for support.

Pages of operators are for operators.
"""

import time

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.models import User
from infra.caching import fleet_reads
from infra.caching.fleet_reads import add_reads
from infra.jobs.models import JobRun
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from operations.queries import notifications as module
from operations.site import PAGES
from relations.actions.block import block
from relations.actions.follow import follow
from tests.budgets import count_calls
from tests.callers import sign_in
from tests.world import drain_all, make_accounts


@pytest.fixture
def warm(cache, settings):
    settings.HOT_KEY_READS = 1_000
    add_reads({b"tests.hot:v1:{1}": 20_000, b"tests.hot:v1:{2}": 100}, time.time())


@pytest.fixture
def redis_away(monkeypatch):
    def refuse():
        raise RedisConnectionError("refused")

    monkeypatch.setattr(fleet_reads, "redis", refuse)


def browser_of(*permissions):
    user = User.objects.create(username="boss", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    browser = Client()
    sign_in(browser, user)
    return browser


def test_page_shows_what_is_hot(world, warm):
    page = browser_of("operate").get(reverse("hot_keys")).content.decode()
    assert page.index("tests.hot:v1:{1}") < page.index("tests.hot:v1:{2}")
    assert page.count("<td>yes</td>") == 1


def test_page_says_that_redis_is_away(world, redis_away):
    page = browser_of("operate").get(reverse("hot_keys"))
    assert "Redis is away" in page.content.decode()


def test_page_is_for_operators_and_to_read(world):
    assert browser_of("view_user").get(reverse("hot_keys")).status_code == 403
    User.objects.all().delete()
    assert browser_of("operate").post(reverse("hot_keys")).status_code == 405


LIST = "admin:jobs_jobrun_changelist"


def run_of(**values):
    row = {"job": "audit edges", "flags": "", "dry_run": False, "host": "here", "pid": 1}
    return JobRun.objects.create(**row, **values)


def shown(browser, **query):
    answer = browser.get(reverse(LIST), query)
    assert answer.status_code == 200
    return [row.pk for row in answer.context["cl"].result_list]


def test_a_run_is_shown_and_one_that_died_is_called_dead(operator):
    run = run_of(state="running")
    assert shown(operator) == [run.pk]
    run.refresh_from_db()
    assert run.state == "died"
    page = operator.get(reverse("admin:jobs_jobrun_change", args=[run.pk]))
    assert page.status_code == 200
    assert b'name="_save"' not in page.content


def test_nothing_is_written_here(operator):
    run = run_of(state="done")
    assert operator.get(reverse("admin:jobs_jobrun_add")).status_code == 403
    where = reverse("admin:jobs_jobrun_delete", args=[run.pk])
    assert operator.post(where, {"post": "yes"}).status_code == 403
    where = reverse("admin:jobs_jobrun_change", args=[run.pk])
    assert operator.post(where, {"state": "failed"}).status_code == 403
    assert JobRun.objects.get().state == "done"


def test_pages_go_by_key_and_count_nothing(operator):
    runs = [run_of(state="done").pk for _ in range(53)]
    assert shown(operator) == runs[:2:-1]
    with count_calls() as calls:
        assert shown(operator, after=runs[3]) == [runs[2], runs[1], runs[0]]
    # Session, user, its token and second step, two of permissions, those that died, the page.
    assert calls.sql == {"default": 8}
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_search_and_filter(operator):
    done, failed = run_of(state="done"), run_of(state="failed", error="it broke")
    assert shown(operator, state__exact="failed") == [failed.pk]
    assert shown(operator, q="audit edges") == [failed.pk, done.pk]
    assert shown(operator, q="audit") == []


@pytest.mark.parametrize("query", [{"below": "x"}, {"below": str(2**64)}, {"q": "\x00"}])
def test_bad_input_is_no_error(operator, query):
    run_of(state="done")
    assert operator.get(reverse(LIST), query, follow=True).status_code == 200


@pytest.mark.parametrize("key", ["x", "-1", str(2**64), "9" * 300])
def test_runs_that_are_none(operator, key):
    answer = operator.get(f"/admin/jobs/jobrun/{key}/change/", follow=True)
    assert answer.status_code == 200
    assert b"exist" in answer.content


@pytest.fixture
def followed(operator):
    """An account and its two followers."""
    people = make_accounts(3)
    for follower in people[1:]:
        follow(follower, people[0])
        drain_all()
    return people


def read(browser, account_id, status=200, **query):
    answer = browser.get(reverse("find_notifications", args=[account_id]), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_it_says_what_the_lists_do_with_each(operator, followed):
    me, first, second = followed
    block(me, first)
    text = read(operator, me)
    assert f"follow by account {second}: shown" in text
    assert f"follow by account {first}: hidden by the rules" in text
    assert "for private mentions" in text
    assert (
        reverse("find_notifications", args=[me])
        in operator.get(reverse("find_account", args=[me])).content.decode()
    )


def test_it_goes_by_key_and_counts_nothing(operator, followed, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 1)
    me, first, second = followed
    newest = fetch_all(
        shard_of(me), "SELECT max(id) FROM notifications_notification WHERE owner_id = %s", (me,)
    )[0][0]
    text = read(operator, me)
    assert (f"account {second}" in text, f"account {first}" in text) == (True, False)
    assert f"?below={newest}" in text
    older = read(operator, me, below=newest)
    assert (f"account {first}" in older, "?below=" in older) == (True, False)
    read(operator, me, below="x", status=404)
    read(operator, me, below="9" * 40, status=404)
    read(operator, 999_999, status=404)
    with count_calls() as calls:
        read(operator, me)
    assert any("notifications_notification" in one.sql for one in calls.statements)
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_a_shard_that_is_down_is_named(operator, followed, take_down):
    take_down(shard_of(followed[0]))
    assert f"{shard_of(followed[0])} does not answer" in read(operator, followed[0])


WITH_ARGS = [
    ("find_account", [1]),
    ("find_post", ["00000100000203"]),
    ("find_edge", [1, 2]),
    ("find_notifications", [1]),
    ("home_timeline", [1]),
    ("rebuild_home", [1]),
    ("act_on_parked", []),
    ("operations_charts", []),
    ("operations_now", []),
]
ALL = [*((name, []) for name in PAGES), *WITH_ARGS]


def test_moderators_are_refused(moderator):
    for name, args in ALL:
        assert moderator.get(reverse(name, args=args)).status_code == 403, name
        assert moderator.post(reverse(name, args=args)).status_code == 403, name


def test_others_are_sent_to_sign_in(world):
    for name, args in ALL:
        answer = Client().get(reverse(name, args=args))
        assert answer.status_code == 302, name
        assert "/login/" in answer.headers["Location"], name


def test_operators_and_superusers_see_them(operator):
    boss = Client()
    sign_in(boss, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    for name in PAGES:
        for browser in (operator, boss):
            assert browser.get(reverse(name)).status_code == 200, name


def test_the_index_leads_operators_to_their_pages(operator):
    index = operator.get("/admin/").content.decode()
    assert all(reverse(name) in index for name in PAGES)
    assert reverse("admin:jobs_jobrun_changelist") in index
    assert reverse("admin:promotions_campaign_changelist") in index
    assert reverse("admin:accounts_application_changelist") in index


def test_the_index_does_not_show_them_to_moderators(moderator):
    index = moderator.get("/admin/").content.decode()
    assert not any(reverse(name) in index for name in PAGES)
    assert "/admin/jobs/" not in index
    assert moderator.get(reverse("admin:jobs_jobrun_changelist")).status_code == 403
