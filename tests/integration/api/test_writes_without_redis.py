"""Every write of the API without Redis is done or 503, and what Redis kept is not stale after."""

import pytest
from django.test import override_settings

from infra.caching.remembered import forget_answers
from tests.integration.api.test_killed_writes import begin, name_of, send, writes
from tests.reads import World, all_reads, answers
from tests.reconciling import assert_audits_find_nothing
from tests.redis_away import redis_away
from tests.sign_ups import FAST_HASHERS
from tests.world import drain_all, flush_redis

# How many people and posts there are: counted now and then.
OF_THE_SITE = {
    "/api/v1/instance",
    "/api/v1/instance/activity",
    "/api/v2/instance",
    "/nodeinfo/2.0",
    "/nodeinfo/2.1",
}


@pytest.mark.slow
@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_a_write_without_redis_is_done_or_503_and_leaves_nothing_stale(world: None) -> None:
    cases = [*writes()]
    scene = begin(cases[0], "alone")
    accounts = {int(scene.names[name]): name for name in ("account_id", "stranger", "other")}
    things = World(accounts, [scene.names[name] for name in ("status_id", "yours", "reply")])
    reads, client = all_reads(things), scene.me.client
    answers(client, reads)
    with redis_away():
        statuses = {name_of(case): send(scene, case.write) for case in cases}
    drain_all()
    assert {name for name, status in statuses.items() if status >= 500 and status != 503} == set()
    assert list(statuses.values()).count(200) > 80
    kept = answers(client, reads)
    flush_redis()
    forget_answers()
    read = answers(client, reads)
    assert {r.path for r in reads if kept[r] != read[r]} <= OF_THE_SITE
    assert_audits_find_nothing()
