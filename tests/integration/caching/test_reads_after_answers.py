"""A read that begins after the answer to a write has the write, whichever process answered."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connections

from tests.integration.own_writes.acting import (
    ACCOUNTS,
    STATUSES,
    Person,
    RemoteCaller,
    make_pair,
    publish,
)
from tests.world import make_account

ROUNDS = 6


@contextmanager
def busy(path):
    """Somebody else reads all the time."""
    somebody, has_ended = Person(make_account()), threading.Event()

    def read():
        while not has_ended.wait(0.01):
            somebody.see(path)
        connections.close_all()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def favourite(actor, other):
    post = publish(other)
    path = f"{STATUSES}/{post}"
    for n in range(ROUNDS):
        actor.act(f"{path}/{'unfavourite' if n % 2 else 'favourite'}")
        yield actor.see(path)["favourited"], n % 2 == 0


def follow(actor, other):
    path = f"{ACCOUNTS}/relationships?id[]={other.id}"
    for n in range(ROUNDS):
        actor.act(f"{ACCOUNTS}/{other.id}/{'unfollow' if n % 2 else 'follow'}")
        yield actor.see(path)[0]["following"], n % 2 == 0


def be_blocked(actor, other):
    post = publish(actor)
    other.get(f"{STATUSES}/{post}")
    for n in range(ROUNDS):
        actor.act(f"{ACCOUNTS}/{other.id}/{'unblock' if n % 2 else 'block'}")
        seen = other.get(f"{STATUSES}/{post}").status_code
        yield seen, 200 if n % 2 else 404


def delete(actor, other):
    for _ in range(ROUNDS):
        path = f"{STATUSES}/{publish(actor)}"
        other.see(path)
        actor.act(path, method="DELETE")
        yield other.get(path).status_code, 404


def write(actor, other):
    path = f"{ACCOUNTS}/{actor.id}/statuses"
    for _ in range(ROUNDS):
        post = publish(actor)
        yield other.see_ids(path)[:1], [post]


@pytest.mark.parametrize("acts", [favourite, follow, be_blocked, delete, write])
def test_a_read_after_an_answer_has_the_write(world, other_web, acts):
    actor, other = make_pair()
    remote = RemoteCaller.acting_for(actor, other_web)
    with busy(f"{ACCOUNTS}/{other.id}"):
        seen = list(acts(remote, other))
    assert [found for found, _ in seen] == [expected for _, expected in seen]
