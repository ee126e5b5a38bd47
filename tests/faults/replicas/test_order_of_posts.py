"""Two posts of different shards, and readers of whom some are answered by a replica that trails.

A reader who sees the later post sees the earlier one. So no two readers see them in opposite
orders.
"""

from contextlib import ExitStack

import pytest

from infra.sharding.buckets import shard_of
from tests.budgets import count_calls
from tests.callers import Caller, ids_of
from tests.faults.replicas.old_posts import asked, forget_caches, path_of
from tests.reconciling import act, make_on, write
from tests.replicas import catch_replicas_up, held_back
from tests.world import drain_all

ANN, BOB = "shard0", "shard1"


@pytest.fixture
def authors(services, steady):
    """Ann and bob, whom cyd and dan follow."""
    authors = [make_on(ANN), make_on(BOB)]
    readers = [Caller(make_on(shard)) for shard in ("shard2", "shard3")]
    for reader in readers:
        for author in authors:
            act(reader, author, "follow")
    drain_all()
    catch_replicas_up(services)
    return authors, readers


@pytest.mark.parametrize("trailing", [[ANN], [BOB], [ANN, BOB]], ids="+".join)
def test_who_sees_the_later_post_sees_the_earlier_one(services, authors, trailing):
    (ann, bob), readers = authors
    with ExitStack() as stack:
        for shard in trailing:
            stack.enter_context(held_back(services.replicas[f"{shard}_replica0"]))
        earlier, later = (write(Caller(author), "new") for author in (ann, bob))
        for reader in readers:
            for author, post in ((ann, earlier), (bob, later)):
                assert see(reader, author, post, later) == (200, True, True)
        drain_all()
        for reader in readers:
            forget_caches()
            assert ids_of(reader.get("/api/v1/timelines/home")) == [later, earlier]


def see(reader, author, post, cursor):
    """What this reader sees of the post: by its id, on the newest page, and on a page below."""
    forget_caches()
    with count_calls() as calls:
        by_id = reader.get(f"/api/v1/statuses/{post}").status_code
    assert asked(calls, f"{shard_of(author)}_replica0", "counters_counter"), "it was asked"
    forget_caches()
    newest = ids_of(reader.get(path_of(author))) == [post]
    forget_caches()
    above = f"/api/v1/accounts/{author}/statuses?max_id={int(cursor) + 1}"
    return by_id, newest, ids_of(reader.get(above)) == [post]
