"""All that web servers do works behind pools, for people and for operators."""

import pytest
from django.contrib import admin
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.callers import sign_in
from tests.contract import test_canaries
from tests.pooling import connected_directly
from tests.world import drain_all, forget_keys, make_account

pytestmark = pytest.mark.slow
OPERATIONS = [
    "operations/",
    "operations/charts/",
    "operations/now/",
    "find/",
    "hot_keys/",
    "parked/",
]


def drain_directly() -> None:
    with connected_directly():
        drain_all()


def test_everybody_sees_what_they_may_see(
    pooled: dict[str, str], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All reads of the API by eight roles, with nothing in Redis, and the pages for their work."""
    monkeypatch.setattr(test_canaries, "drain_all", drain_directly)
    monkeypatch.setattr(test_canaries, "answers", _answers_from_shards)
    test_canaries.test_each_canary_is_seen_by_each_role_that_may_see_it(None, settings)


_answers = test_canaries.answers


def _answers_from_shards(*arguments):
    forget_keys()
    return _answers(*arguments)


def test_pages_of_operators(pooled: dict[str, str]) -> None:
    User.objects.filter(id=make_account("root")).update(is_staff=True, is_superuser=True)
    browser = Client()
    sign_in(browser, User.objects.get(username="root"))
    lists = [f"{m._meta.app_label}/{m._meta.model_name}/" for m in admin.site._registry]
    for path in [*lists, *OPERATIONS]:
        # The page of a single row leads to it.
        assert browser.get(f"/admin/{path}", follow=True).status_code in (200, 403), path
