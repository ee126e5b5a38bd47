"""The operators' page of hot keys."""

import time

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.models import User
from infra.caching import fleet_reads
from infra.caching.fleet_reads import add_reads
from tests.callers import sign_in


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
