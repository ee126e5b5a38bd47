"""A shard that hangs keeps no page of operators waiting for long, nor more and more threads."""

import threading
import time

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from infra.sharding.buckets import shard_of
from operations.asking import MOST_WAITING, PATIENCE_S
from tests.world import make_accounts

# Of a crowded machine, beside the patience itself; without patience nothing would end the wait.
MARGIN_S = 100


@pytest.fixture
def boss(services):
    browser = Client()
    browser.force_login(User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def asking_threads():
    return [thread for thread in threading.enumerate() if thread.name.endswith("(_ask)")]


def test_a_shard_that_hangs(services, boss):
    accounts = make_accounts(4)
    hung = next(i for i in accounts if shard_of(i) == "shard1")
    fine = next(i for i in accounts if shard_of(i) == "shard2")
    services.postgres["shard1"].pause()
    for _ in range(2 * MOST_WAITING):
        began = time.monotonic()
        page = boss.get(reverse("find_account", args=[hung])).content.decode()
        assert time.monotonic() - began < PATIENCE_S + MARGIN_S
        assert "shard1 does not answer:" in page
        databases = boss.get(reverse("operations_now")).json()["databases"]
        assert [one["name"] for one in databases if one["problem"]] == ["shard1"]
    assert len(asking_threads()) <= MOST_WAITING
    assert "does not answer" not in boss.get(reverse("find_account", args=[fine])).content.decode()
