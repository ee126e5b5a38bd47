"""The script of `bench --only peers` counts what a side forgets and what it keeps too long."""

import itertools
from collections import defaultdict

import pytest

from lab.bench.peers.script import FeedScript

STAGE = (1, 2, 3)
CROWD = range(10, 20)


class Plain:
    """A side that is always right; those below it each have one fault."""

    def __init__(self):
        self.follows = defaultdict(set)
        self.posts = {}
        self.numbers = itertools.count()

    def call(self, name, *arguments):
        return getattr(self, name)(*arguments)

    def homes(self, readers, limit):
        return [self.home(reader)[:limit] for reader in readers]

    def home(self, reader):
        return sorted(
            (p for p, by in self.posts.items() if by in self.follows[reader]), reverse=True
        )

    def follow(self, readers, author):
        for reader in readers:
            self.follows[reader].add(author)

    def unfollow(self, readers, author):
        for reader in readers:
            self.follows[reader].discard(author)

    def post(self, author, text, second):
        post = next(self.numbers)
        self.posts[post] = author
        return post

    def delete(self, post):
        del self.posts[post]

    def post_and_kill(self, author, text, second):
        return {"post": self.post(author, text, second), "had": 1}


class Deaf(Plain):
    def unfollow(self, readers, author):
        pass


class Lossy(Plain):
    lost = None

    def post_and_kill(self, author, text, second):
        self.lost = self.post(author, text, second)
        return {"post": self.lost, "had": 1}

    def home(self, reader):
        return [post for post in super().home(reader) if post != self.lost or reader == CROWD[0]]


class Repeating(Plain):
    def home(self, reader):
        home = super().home(reader)
        return home[:1] + home


class Late(Plain):
    def post_and_kill(self, author, text, second):
        return super().post_and_kill(author, text, second) | {"had": len(CROWD)}


def run(side, can_be_killed=True):
    return FeedScript(side, STAGE, CROWD, can_be_killed).run()


@pytest.mark.parametrize("can_be_killed", [True, False])
def test_a_side_that_is_right_has_nothing_wrong(can_be_killed):
    found = run(Plain(), can_be_killed)
    assert len(found) == 6
    assert not any(wrong["missing"] or wrong["ghosts"] for wrong in found.values())


def test_what_stays_after_an_unfollow_is_a_ghost():
    found = run(Deaf())
    assert found["delete"] == {"missing": 0, "ghosts": 0}
    # Of the friend's posts 13 and 12 are among the newest 40: two were deleted.
    assert found["unfollow"]["ghosts"] == len(CROWD) // 2 * 25


def test_what_a_kill_cost_is_missing():
    lost = {"missing": len(CROWD) - 1, "ghosts": 0, "had_it_when_killed": 1}
    assert run(Lossy())["kill -9"] == lost


def test_repeated_entry_is_a_ghost():
    assert run(Repeating())["follow"] == {"missing": 0, "ghosts": len(CROWD)}


def test_a_kill_that_came_too_late_every_time_is_said():
    with pytest.raises(AssertionError, match="too late"):
        run(Late())
