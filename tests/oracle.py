"""What every answer must be, computed the plain way: sets and sorting, no Django, no caches.

People are account ids; posts are public ids, which sort by time as text.
"""

from collections import defaultdict
from typing import NamedTuple


class Counts(NamedTuple):
    followers: int
    following: int
    posts: int


class Oracle:
    """Everybody's follows and live posts. Doing again what is done already changes nothing."""

    def __init__(self) -> None:
        self._following: dict[int, dict[int, int]] = defaultdict(dict)
        self._followers: dict[int, dict[int, int]] = defaultdict(dict)
        self._posts: dict[int, set[str]] = defaultdict(set)

    def follow(self, follower: int, followee: int, since_ms: int) -> None:
        if followee not in self._following[follower]:
            self._following[follower][followee] = since_ms
            self._followers[followee][follower] = since_ms

    def unfollow(self, follower: int, followee: int) -> None:
        self._following[follower].pop(followee, None)
        self._followers[followee].pop(follower, None)

    def publish(self, author: int, post_id: str) -> None:
        self._posts[author].add(post_id)

    def delete(self, author: int, post_id: str) -> None:
        self._posts[author].discard(post_id)

    def home(self, person: int) -> list[str]:
        """Own posts and those of everybody followed, newest first."""
        authors = {person, *self._following[person]}
        return sorted({post for author in authors for post in self._posts[author]}, reverse=True)

    def posts(self, author: int) -> list[str]:
        """One's own posts, newest first."""
        return sorted(self._posts[author], reverse=True)

    def following(self, person: int) -> list[int]:
        """Everybody followed, the latest first; of equals the higher id first."""
        return _newest_first(self._following[person])

    def followers(self, person: int) -> list[int]:
        """Everybody who follows, the latest first; of equals the higher id first."""
        return _newest_first(self._followers[person])

    def counts(self, person: int) -> Counts:
        return Counts(
            len(self._followers[person]), len(self._following[person]), len(self._posts[person])
        )


def _newest_first(since_ms: dict[int, int]) -> list[int]:
    return sorted(since_ms, key=lambda person: (since_ms[person], person), reverse=True)
