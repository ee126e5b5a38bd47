"""Judged while Redis or a shard is away: in force where it can be, everywhere once it is back."""

import time

import pytest

from accounts.queries.viewers import find_viewer
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from infra.sharding.placement import all_aliases
from moderation.types import Act
from tests.callers import is_disabled, token_of
from tests.integration.moderation.people import Circle, Eyes, judge, judge_that
from tests.private_world import private_world, whole
from tests.truth import assert_drained_truth
from tests.world import drain_all

CATCH_UP_S = 30


@pytest.fixture(scope="module")
def private(django_db_blocker):
    with django_db_blocker.unblock(), private_world() as services:
        yield services


@pytest.fixture
def services(private):
    with whole(private):
        yield private


def catch_up() -> None:
    """What could not be delivered is tried again in a second."""
    deadline = time.monotonic() + CATCH_UP_S
    while any(Change.objects.on(alias).exists() for alias in all_aliases()):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        drain_all()


@pytest.mark.parametrize("end", ["kill", "pause"])
def test_without_redis(services, end):
    """It still has what was cached before, where it was only hung."""
    circle, eyes = Circle(), Eyes()
    token = token_of(circle.judged)
    person = f"/api/v1/accounts/{circle.judged}"
    assert circle.home() == circle.home() == circle.whole_home
    assert (eyes.status_of(person), find_viewer(token) is not None) == (200, True)
    getattr(services.redis, end)()
    judge(circle.judged, Act.SUSPEND)
    judge_that(circle.friends, Act.HIDE)
    assert circle.home() == []
    assert (eyes.status_of(person), is_disabled(token)) == (404, True)
    services.redis.resume()
    if not services.redis.is_running:
        services.redis.start()
    catch_up()
    assert circle.home() == []
    assert (eyes.status_of(person), is_disabled(token)) == (404, True)
    judge(circle.judged, Act.RESTORE)
    judge_that(circle.friends, Act.SHOW)
    assert circle.home() == circle.whole_home
    catch_up()
    assert_drained_truth()


def test_while_their_shard_is_away(services):
    """They are shut out at once, and hidden when the shard is back."""
    circle = Circle()
    token = token_of(circle.judged)
    shard = services.postgres[shard_of(circle.judged)]
    shard.kill()
    judge(circle.judged, Act.SUSPEND)
    assert is_disabled(token)
    shard.start()
    catch_up()
    assert circle.home() == [circle.friends.public]
    assert Eyes().status_of(f"/api/v1/accounts/{circle.judged}") == 404
