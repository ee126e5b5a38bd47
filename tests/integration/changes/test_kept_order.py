"""What happens to a post is filed in its order, also when a change of it is tried again."""

import pytest
from django.db import OperationalError

from infra.changes import deliver
from infra.changes.feed import OLDEST, read_feed
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.actions.edit_post import edit_post
from posts.changes import PostCreated
from posts.queries.rows import find_post_row
from posts.types import Draft
from tests.world import drain_all

DUE = "UPDATE changes_change SET next_attempt_at = clock_timestamp()"
LEFT = "SELECT kind, error <> '', attempts FROM changes_change ORDER BY id"


@pytest.fixture
def fails(monkeypatch):
    """Changes of the kind and the post in this set cannot be delivered: (kind, moment)."""
    failing = set()
    call = deliver._call_consumers

    def fail(alias, deliveries):
        for one in deliveries:
            if (one.payload.kind, getattr(one.payload, "moment", None)) in failing:
                raise OperationalError("down")
        return call(alias, deliveries)

    monkeypatch.setattr(deliver, "_call_consumers", fail)
    return failing


def filed(owner_id):
    page = read_feed(shard_of(owner_id), OLDEST, 100)
    return [change.kind for change in page.changes if change.owner_id == owner_id]


@pytest.mark.parametrize("in_one_batch", [True, False])
def test_a_deletion_waits_for_the_creation_of_its_post(ann, fails, in_one_batch):
    post, other = create_post(ann, Draft("one")), create_post(ann, Draft("other"))
    fails.add((PostCreated.kind, post.moment))
    if not in_one_batch:
        drain_all()
    edit_post(find_post_row(post), Draft("new"))
    delete_post(post)
    delete_post(other)
    drain_all()
    assert filed(ann) == ["posts.created", "posts.deleted"], "of the other post"
    execute(shard_of(ann), DUE)
    drain_all()
    assert [row[0] for row in fetch_all(shard_of(ann), LEFT)] == [
        "posts.created", "posts.edited", "posts.deleted",
    ]  # fmt: skip
    fails.clear()
    execute(shard_of(ann), DUE)
    drain_all()
    assert filed(ann)[2:] == ["posts.created", "posts.edited", "posts.deleted"]


def test_a_parked_creation_holds_nothing_back(ann, fails):
    post = create_post(ann, Draft("one"))
    fails.add((PostCreated.kind, post.moment))
    drain_all()
    delete_post(post)
    drain_all()
    assert filed(ann) == []
    execute(shard_of(ann), "UPDATE changes_change SET state = 1 WHERE kind = 'posts.created'")
    execute(shard_of(ann), DUE)
    drain_all()
    assert filed(ann) == ["posts.deleted"]
