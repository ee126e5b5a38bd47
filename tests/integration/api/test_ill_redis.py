"""Every read and every write of the API meets a Redis that hangs, or that refuses writes.

A read answers as before. A write is done or answers 503, and nothing that Redis kept is stale when
it is well again: also not by what a hung Redis was sent, and does when it goes on. A request waits
for Redis once at most. Each begins with a Redis that was well a moment ago.
"""

from collections.abc import Sequence
from itertools import groupby

import pytest
from django.test import Client, override_settings

from infra.caching.remembered import forget_answers
from lab.services.server import Server
from tests.integration.api.ill_redis import HUNG, ill, server
from tests.integration.api.test_killed_writes import KilledWrite, begin, name_of, send, writes
from tests.integration.api.test_reads_without_redis import make_people
from tests.reads import OF_THE_SITE, Read, World, all_reads, answers
from tests.reconciling import assert_audits_find_nothing
from tests.sign_ups import FAST_HASHERS
from tests.world import drain_all, flush_redis

__all__ = ["server"]
pytestmark = pytest.mark.slow

# Without Redis, which counts them, pages have no promotions (docs/explanation/promotions.md).
WITH_PROMOTIONS = {"/api/v1/timelines/home?all_promotions=true"}
# The others ask Redis nothing, or another thread asked it first.
MOST = 0.6


@pytest.mark.parametrize("way", [HUNG, "READONLY"])
def test_every_read_answers_the_same(server: Server, way: str) -> None:
    client, world = make_people()
    reads = all_reads(world)
    healthy, without, trips = answers(client, reads), {}, []
    for _, some in groupby(reads, lambda read: read.template):
        with ill(server, way) as tripped:
            without |= answers(client, [*some])
        trips.append(len(tripped))
    changed = {read.path for read in reads if healthy[read] != without[read]}
    assert changed <= OF_THE_SITE | WITH_PROMOTIONS
    assert_fired(trips)


@pytest.mark.parametrize("way", [HUNG, "OOM", "READONLY"])
@override_settings(PASSWORD_HASHERS=FAST_HASHERS)
def test_every_write_is_done_or_503_and_leaves_nothing_stale(server: Server, way: str) -> None:
    cases = sorted(writes(), key=deletes)
    scene = begin(cases[0], "alone")
    accounts = {int(scene.names[name]): name for name in ("account_id", "stranger", "other")}
    things = World(accounts, [scene.names[name] for name in ("status_id", "yours", "reply")])
    reads, client = all_reads(things), scene.me.client
    answers(client, reads)
    statuses, trips = {}, []
    for case in cases:
        with ill(server, way) as tripped:
            statuses[name_of(case)] = send(scene, case.write)
        trips.append(len(tripped))
    drain_all()
    assert {name for name, status in statuses.items() if status >= 500 and status != 503} == set()
    assert list(statuses.values()).count(200) > 90
    assert_fired(trips)
    assert list_stale(client, reads) <= OF_THE_SITE
    assert_audits_find_nothing()


def deletes(case: KilledWrite) -> bool:
    """These come last: the others need the things."""
    return case.write.method == "DELETE"


def assert_fired(trips: Sequence[int]) -> None:
    """Redis was ill for most, and none asked it again after it had not answered."""
    assert {*trips} <= {0, 1}
    assert sum(trips) > MOST * len(trips)


def list_stale(client: Client, reads: Sequence[Read]) -> set[str]:
    """What is answered otherwise from an empty Redis."""
    kept = answers(client, reads)
    flush_redis()
    forget_answers()
    read = answers(client, reads)
    return {one.path for one in reads if kept[one] != read[one]}
