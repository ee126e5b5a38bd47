"""A shard that hangs: operators' pages return in time, and few threads wait for it."""

import threading
import time

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from infra.sharding.buckets import shard_of
from infra.sharding.probe import DEADLINE_S, MAX_THREADS
from tests.callers import sign_in
from tests.server_faults import pause
from tests.world import make_accounts

# For a crowded machine. Without a deadline, the page would never return.
MARGIN_S = 100


@pytest.fixture
def boss(services):
    browser = Client()
    sign_in(browser, User.objects.create(username="boss", is_staff=True, is_superuser=True))
    return browser


def probe_threads():
    return [thread for thread in threading.enumerate() if thread.name == "probe-shard1"]


def test_a_shard_that_hangs(services, boss):
    accounts = make_accounts(4)
    hung = next(i for i in accounts if shard_of(i) == "shard1")
    fine = next(i for i in accounts if shard_of(i) == "shard2")
    pause(services.postgres["shard1"])
    for _ in range(2 * MAX_THREADS):
        began = time.monotonic()
        page = boss.get(reverse("find_account", args=[hung])).content.decode()
        assert time.monotonic() - began < DEADLINE_S + MARGIN_S
        assert "shard1 does not answer:" in page
        databases = boss.get(reverse("operations_now")).json()["databases"]
        assert [one["name"] for one in databases if one["problem"]] == ["shard1"]
    assert len(probe_threads()) <= MAX_THREADS
    assert "does not answer" not in boss.get(reverse("find_account", args=[fine])).content.decode()
