"""Parked changes in the admin: seen, tried again, discarded with a reason."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from infra.changes.lag import report_lag
from infra.changes.models import DiscardedChange
from infra.changes.parking import list_parked, park
from infra.changes.pausing import pause_kind
from operations.pages import parked as module
from operations.pages.parked import PAGE
from tests.budgets import count_calls
from tests.integration.changes.kinds import ALIAS, OWNER, BulkNoted, emit, note
from tests.world import drain_all

URL = "/admin/parked/"


def text_of(answer):
    assert answer.status_code == 200, answer.content
    return " ".join(answer.content.decode().split())


def read(browser, **query):
    return browser.get(URL, {"shard": ALIAS, **query})


def act(browser, act, ids, **form):
    values = {"shard": ALIAS, "act": act, "ids": ids, **form}
    return browser.post(reverse("act_on_parked"), values, follow=True)


def parked(count=1):
    ids = note(count)
    park(ALIAS, ids, "it breaks <i>")
    return ids


def test_nothing_is_parked(operator):
    assert "Nothing is parked here." in text_of(operator.get(URL))
    assert "Nothing is parked here." in text_of(read(operator))


def test_what_is_parked_and_why(operator):
    (change,) = parked()
    report_lag(ALIAS)
    page = text_of(read(operator))
    for words in (f"#{change}", "tests.noted", "it breaks &lt;i&gt;", f"{ALIAS}: 1", "not known"):
        assert words in page, words
    assert f"#{change}" not in text_of(operator.get(URL, {"shard": "default"}))
    assert f"#{change}" in text_of(operator.get(URL)), "the first database that has any"


def test_paused_kinds_are_shown(operator):
    pause_kind(ALIAS, "tests.noted", "wait for it")
    assert "tests.noted paused" in text_of(read(operator))
    assert "wait for it" in text_of(read(operator))


def test_pages_go_by_key(operator):
    ids = parked(PAGE + 3)
    first = read(operator)
    assert [one.id for one in first.context["changes"]] == ids[:PAGE]
    second = operator.get(f"{URL}?{first.context['older']}")
    assert [one.id for one in second.context["changes"]] == ids[PAGE:]
    assert second.context["older"] == ""


def test_filters(operator):
    parked(2)
    bulk = emit(BulkNoted())
    park(ALIAS, bulk, "big")
    assert [one.id for one in read(operator, kind="tests.bulk_noted").context["changes"]] == bulk
    assert len(read(operator, owner=OWNER).context["changes"]) == 3
    assert read(operator, owner=OWNER + 1).context["changes"] == []


def test_bad_input_is_reported(operator):
    for query in [
        {"shard": "shard99"},
        {"shard": "\x00"},
        {"after": "x"},
        {"after": str(2**64)},
        {"owner": "-1"},
        {"owner": str(2**64)},
        {"owner": "\x00"},
        {"kind": "\x00"},
        {"kind": "k" * 65},
    ]:
        page = text_of(read(operator, **query))
        assert "errorlist" in page, query


def test_trying_again(operator):
    first, second = parked(2)
    answer = act(operator, "retry", [first])
    assert "1 of 1 put back into the queue" in text_of(answer)
    assert [one.id for one in list_parked(ALIAS)] == [second]
    assert LogEntry.objects.get().object_id == ALIAS
    assert drain_all() == 1


def test_discarding_needs_a_reason(operator):
    (change,) = parked()
    assert "Give a reason" in text_of(act(operator, "discard", [change], reason="  "))
    assert [one.id for one in list_parked(ALIAS)] == [change]
    assert "1 of 1 discarded" in text_of(act(operator, "discard", [change], reason="never mind"))
    assert list_parked(ALIAS) == []
    row = DiscardedChange.objects.on(ALIAS).get()
    assert (row.id, row.reason, row.discarded_by) == (change, "never mind", "operator_ann")
    assert "never mind" in LogEntry.objects.get().change_message


def test_what_is_not_parked_is_passed_over(operator):
    pending = note(1)
    assert "0 of 1 put back" in text_of(act(operator, "retry", pending))
    assert "0 of 1 discarded" in text_of(act(operator, "discard", pending, reason="no"))


def test_bad_forms_do_nothing(operator):
    (change,) = parked()
    for form in [
        {"ids": []},
        {"ids": ["x"]},
        {"ids": [str(2**64)]},
        {"ids": ["\x00"]},
        {"ids": ["9" * 5000]},
        {"act": "explode"},
        {"shard": "shard99"},
        {"reason": "\x00"},
        {"reason": "r" * 501},
    ]:
        values = {"shard": ALIAS, "act": "discard", "ids": [change], "reason": "why", **form}
        answer = operator.post(reverse("act_on_parked"), values, follow=True)
        assert "Nothing done" in text_of(answer), form
        assert [one.id for one in list_parked(ALIAS)] == [change], form


def test_acts_are_posted_with_a_token(operator):
    assert operator.get(reverse("act_on_parked")).status_code == 405
    careful = Client(enforce_csrf_checks=True)
    careful.cookies = operator.cookies
    assert careful.post(reverse("act_on_parked")).status_code == 403


def test_a_shard_that_is_down_is_said_to_be(operator, take_down):
    take_down(ALIAS)
    assert f"{ALIAS} does not answer:" in text_of(read(operator))
    assert "Nothing is parked here." in text_of(operator.get(URL))


def test_without_redis_the_numbers_are_not_known(operator, monkeypatch):
    class Away:
        def read(self, _):
            raise RedisConnectionError("refused")

    (change,) = parked()
    monkeypatch.setattr(module, "LAG", Away())
    page = text_of(read(operator))
    assert f"#{change}" in page
    assert f"{ALIAS}: not known" in page


@pytest.mark.parametrize("count", [0, PAGE + 1])
def test_what_a_page_costs(operator, count):
    if count:
        parked(count)
    with count_calls() as calls:
        read(operator)
    assert {a: n for a, n in calls.sql.items() if a != "default"} == {ALIAS: 2}
    assert calls.sql["default"] <= 6
    assert calls.round_trips == 1
    assert not any("count(" in one.sql.lower() for one in calls.statements)
