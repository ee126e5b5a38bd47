"""Threads that write and deliver while a job runs."""

import threading

from django.db import connections

from infra.changes.compensate import drain
from infra.changes.lanes import all_lanes
from infra.sharding.shards import all_aliases
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.errors import CannotFollowBlocked
from relations.types import FollowOptions
from tests.waiting import PATIENCE_S


class Busy:
    """Threads that write and drain until the block ends. The block raises their errors."""

    def __init__(self, *writes):
        self.writes, self.errors, self.over = writes, [], threading.Event()
        self.rounds = 0

    def __enter__(self):
        self.threads = [threading.Thread(target=self._go_on, args=[write]) for write in self.writes]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)
        assert self.errors == []

    def _go_on(self, write):
        try:
            while not self.over.is_set():
                write()
                self.rounds += 1
        except Exception as error:
            self.errors.append(error)
        finally:
            connections.close_all()

    def pause(self, seconds):
        return not self.over.wait(seconds)


def toggler(one, other):
    def toggle():
        follow(one, other, FollowOptions(quiet=True))
        follow(one, other, FollowOptions(quiet=False, special=True))
        unfollow(one, other)

    return toggle


def blocker(one, other):
    def toggle():
        block(one, other)
        unblock(one, other)
        try:
            follow(other, one)
        except CannotFollowBlocked:
            raise AssertionError("there is no block any more") from None

    return toggle


def drainer():
    for alias in all_aliases():
        for lane in all_lanes():
            drain(alias, lane, max_batches=1)  # lanes in turn: writers fill them all the time
