"""The same events on every side for three hundred readers, and the errors in their homes.

After each event every reader's newest 40 entries are compared with the oracle's. An entry that
should be there is *missing*; one that should not is a *ghost*. Events build on each other, so an
error after one remains after the next.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tests.oracle import Oracle

LIMIT = 40
LOUD_POSTS, LOUD_FOLLOWERS = 480, 50
MOST_KILLS = 6


class Side(Protocol):
    def call(self, name: str, *arguments: Any) -> Any: ...


class FeedScript:
    """One run on one side. `can_be_killed`: the side pushes in a process that can be killed."""

    def __init__(
        self, side: Side, stage: Sequence[int], crowd: Sequence[int], can_be_killed: bool
    ) -> None:
        self._side, self._crowd, self._oracle = side, crowd, Oracle()
        self._star, self._friend, self._loud = stage
        self._can_be_killed, self._had = can_be_killed, len(crowd)
        # Labels of posts by the side's own ids. The oracle uses labels, which sort by time.
        self._labels: dict[Any, str] = {}
        self._seconds = itertools.count(int(time.time()) - 3_000)

    def run(self) -> dict[str, dict[str, int]]:
        """Missing entries and ghosts of all readers together, by event."""
        events: dict[str, Callable[[], None]] = {
            "follow": self._follow_after_posts,
            "post": self._post_some,
            "delete": self._delete_some,
            "unfollow": self._unfollow_by_half,
            "unfollow the loud": self._follow_and_leave_the_loud,
            "kill -9": self._kill_in_fan_out,
        }
        results = {name: self._after(event) for name, event in events.items()}
        return results | {"kill -9": results["kill -9"] | {"had_it_when_killed": self._had}}

    def _after(self, event: Callable[[], None]) -> dict[str, int]:
        event()
        homes = self._side.call("homes", self._crowd, LIMIT)
        missing = ghosts = 0
        for reader, home in zip(self._crowd, homes, strict=True):
            right = self._oracle.home(reader)
            shown = [self._labels[post] for post in home]
            missing += len(set(right[:LIMIT]) - set(shown))
            ghosts += len(set(shown) - set(right)) + len(shown) - len(set(shown))
        return {"missing": missing, "ghosts": ghosts}

    def _follow_after_posts(self) -> None:
        """Both authors post before the readers follow them. The homes must have these posts."""
        self._post(self._star, 15)
        self._post(self._friend, 15)
        self._follow(self._crowd, self._star)
        self._follow(self._crowd, self._friend)

    def _post_some(self) -> None:
        self._post(self._star, 15)
        self._post(self._friend, 15)

    def _delete_some(self) -> None:
        """Two of the newest 40: two older ones move up."""
        for post, label in [*self._labels.items()][-4:-2]:
            self._side.call("delete", post)
            self._oracle.delete(self._friend, label)

    def _unfollow_by_half(self) -> None:
        self._unfollow(self._crowd[::2], self._friend)

    def _follow_and_leave_the_loud(self) -> None:
        """An author posts more than a timeline holds, which removes all other posts. Then the
        readers unfollow this author."""
        readers = self._crowd[:LOUD_FOLLOWERS]
        self._follow(readers, self._loud)
        self._post(self._loud, LOUD_POSTS)
        self._side.call("homes", readers, LIMIT)
        self._unfollow(readers, self._loud)

    def _kill_in_fan_out(self) -> None:
        """Repeats until a kill comes when only some followers have the post."""
        if not self._can_be_killed:
            return self._post(self._star, 1)
        for _ in range(MOST_KILLS):
            done = self._side.call("post_and_kill", self._star, "x", next(self._seconds))
            self._note(self._star, done["post"])
            if done["had"] < len(self._crowd):
                self._had = done["had"]
                return None
        raise AssertionError("every kill came too late")

    def _post(self, author: int, count: int) -> None:
        for _ in range(count):
            self._note(author, self._side.call("post", author, "x", next(self._seconds)))

    def _note(self, author: int, post: Any) -> None:
        self._labels[post] = f"{len(self._labels):06d}"
        self._oracle.publish(author, self._labels[post])

    def _follow(self, readers: Sequence[int], author: int) -> None:
        self._side.call("follow", readers, author)
        for reader in readers:
            self._oracle.follow(reader, author, 0)

    def _unfollow(self, readers: Sequence[int], author: int) -> None:
        self._side.call("unfollow", readers, author)
        for reader in readers:
            self._oracle.unfollow(reader, author)
