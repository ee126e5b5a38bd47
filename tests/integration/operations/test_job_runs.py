"""Runs of commands in the admin: to read, by pages of keys."""

import pytest
from django.urls import reverse

from infra.jobs.models import JobRun
from tests.budgets import count_calls

LIST = "admin:jobs_jobrun_changelist"


def run_of(**values):
    row = {"job": "audit_edges", "flags": "", "dry_run": False, "host": "here", "pid": 1}
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
        assert shown(operator, below=runs[3]) == [runs[2], runs[1], runs[0]]
    # Session, user, its token and second step, two of permissions, those that died, the page.
    assert calls.sql == {"default": 8}
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_search_and_filter(operator):
    done, failed = run_of(state="done"), run_of(state="failed", error="it broke")
    assert shown(operator, state__exact="failed") == [failed.pk]
    assert shown(operator, q="audit_edges") == [failed.pk, done.pk]
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
