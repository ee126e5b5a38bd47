"""Judged while Redis or a shard is away: in force where it can be, everywhere once it is back."""

import pytest

from accounts.queries.viewers import find_viewer
from infra.sharding.buckets import shard_of
from moderation.types import DecisionKind
from tests.callers import is_disabled, token_of
from tests.integration.moderation.people import Circle, Eyes, decide, decide_on
from tests.private_world import bring_back, catch_up
from tests.server_faults import kill
from tests.truth import assert_drained_truth


@pytest.mark.parametrize("end", ["kill", "pause"])
def test_without_redis(services, end):
    """It still has what was cached before, where it was only hung."""
    circle, eyes = Circle(), Eyes()
    token = token_of(circle.judged)
    person = f"/api/v1/accounts/{circle.judged}"
    assert circle.home() == circle.home() == circle.whole_home
    assert (eyes.status_of(person), find_viewer(token) is not None) == (200, True)
    getattr(services.redis, end)()
    decide(circle.judged, DecisionKind.SUSPEND)
    decide_on(circle.friends, DecisionKind.HIDE)
    assert circle.home() == []
    assert (eyes.status_of(person), is_disabled(token)) == (404, True)
    bring_back(services.redis)
    catch_up()
    assert circle.home() == []
    assert (eyes.status_of(person), is_disabled(token)) == (404, True)
    decide(circle.judged, DecisionKind.RESTORE)
    decide_on(circle.friends, DecisionKind.SHOW)
    assert circle.home() == circle.whole_home
    catch_up()
    assert_drained_truth()


def test_while_their_shard_is_away(services):
    """They are shut out at once, and hidden when the shard is back."""
    circle = Circle()
    token = token_of(circle.judged)
    shard = services.postgres[shard_of(circle.judged)]
    kill(shard)
    decide(circle.judged, DecisionKind.SUSPEND)
    assert is_disabled(token)
    shard.start()
    catch_up()
    assert circle.home() == [circle.friends.public]
    assert Eyes().status_of(f"/api/v1/accounts/{circle.judged}") == 404
