"""Every read of the API answers the same from an emptied Redis, and without one."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.test import Client

from infra.caching.remembered import forget_answers
from posts.actions.create_post import create_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.types import Draft, Kind
from relations.actions.follow import follow
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from tests.callers import token_of
from tests.reads import OF_THE_SITE, World, all_reads, answers
from tests.redis_away import redis_away
from tests.world import drain_all, flush_redis, make_account, publish


@contextmanager
def emptied() -> Iterator[None]:
    flush_redis()
    forget_answers()
    yield


@contextmanager
def away() -> Iterator[None]:
    forget_answers()
    with redis_away():
        yield


def make_people() -> tuple[Client, World]:
    """ann, who follows bob and answers him; her client."""
    ann, bob, cyd = map(make_account, ("ann", "bob", "cyd"))
    for follower, followee in ((ann, bob), (bob, ann), (cyd, bob)):
        follow(follower, followee)
    post = publish(bob, "hello #tea")
    posts = [post, create_post(ann, Draft("@bob welcome", in_reply_to=post)), publish(cyd, "look")]
    repost(bob, posts[2])
    for kind in (Kind.FAVOURITE, Kind.BOOKMARK):
        mark_post(ann, post, kind, True)
    friends = create_account_list(ann, "friends").list_id
    add_members(ann, friends, [bob])
    drain_all()
    names = {ann: "ann", bob: "bob", cyd: "cyd"}
    client = Client(headers={"Authorization": f"Bearer {token_of(ann)}"})
    return client, World(names, [each.public for each in posts], [str(friends)])


@pytest.mark.parametrize("state", [emptied, away])
def test_every_read_answers_the_same(world, state):
    client, world = make_people()
    reads = all_reads(world)
    healthy = answers(client, reads)
    with state():
        without = answers(client, reads)
    assert {r.path for r in reads if healthy[r] != without[r]} <= OF_THE_SITE
