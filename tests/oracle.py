"""Computes the expected answers in a simple way: sets and sorting, no Django, no caches.

Accounts are ids; posts are public ids, which sort by time as numbers.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class Counts(NamedTuple):
    followers: int
    following: int
    posts: int


class Responses(NamedTuple):
    """To one post."""

    replies: int
    reposts: int
    favourites: int


class Oracle:
    """All follows, live posts and interactions. Repeating an action changes nothing. A repost is a
    post that is shown only while its original is shown.
    """

    def __init__(self) -> None:
        self._following: dict[int, dict[int, int]] = defaultdict(dict)
        self._followers: dict[int, dict[int, int]] = defaultdict(dict)
        self._posts: dict[int, set[str]] = defaultdict(set)
        self._replies: dict[str, str] = {}
        self._reposts: dict[str, str] = {}
        # By post and the name of the reaction.
        self._reacted: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._suspended: set[int] = set()
        self._hidden: set[str] = set()
        self._visibility: dict[str, int] = defaultdict(int)
        self._mentioned: dict[str, set[int]] = defaultdict(set)

    def follow(self, follower: int, followee: int, since_ms: int) -> None:
        if followee not in self._following[follower]:
            self._following[follower][followee] = since_ms
            self._followers[followee][follower] = since_ms

    def unfollow(self, follower: int, followee: int) -> None:
        self._following[follower].pop(followee, None)
        self._followers[followee].pop(follower, None)

    def publish(self, author: int, post_id: str) -> None:
        self._posts[author].add(post_id)

    def close(self, post_id: str, visibility: int, mentioned: Iterable[int] = ()) -> None:
        """The visibility of a post: 0 public, 1 unlisted, 2 private, 3 direct."""
        self._visibility[post_id] = visibility
        self._mentioned[post_id] = set(mentioned)

    def may_see(self, person: int, post_id: str) -> bool:
        """Whether the post is shown and its visibility includes the person."""
        author, visibility = author_of(post_id), self._visibility[post_id]
        is_included = visibility < 2 or person == author or person in self._mentioned[post_id]
        is_for_followers = visibility == 2 and author in self._following[person]
        is_there = post_id in self._posts[author] and self._is_shown(post_id)
        return is_there and (is_included or is_for_followers)

    def may_repost(self, person: int, post_id: str) -> bool:
        visibility = self._visibility[post_id]
        return visibility < 2 or (visibility == 2 and author_of(post_id) == person)

    def visibility_of_repost(self, post_id: str) -> int:
        return 2 if self._visibility[post_id] == 2 else 0

    def page(self, author: int, person: int) -> list[str]:
        """The posts of an author's page that the person finds there, newest first."""
        most = 3 if author == person else 2 if author in self._following[person] else 1
        posts = filter(self._is_shown, self._posts[author])
        return _latest_first(post for post in posts if self._visibility[post] <= most)

    def delete(self, author: int, post_id: str) -> None:
        """Its reposts end with it."""
        self._posts[author].discard(post_id)
        self._replies.pop(post_id, None)
        self._reposts.pop(post_id, None)
        for repost in [one for one, of in self._reposts.items() if of == post_id]:
            self.delete(author_of(repost), repost)

    def reply(self, author: int, post_id: str, parent: str) -> None:
        self.publish(author, post_id)
        self._replies[post_id] = parent

    def repost(self, author: int, post_id: str, original: str) -> None:
        self.publish(author, post_id)
        self._reposts[post_id] = original

    def react(self, person: int, post_id: str, name: str, is_on: bool) -> None:
        people = self._reacted[post_id, name]
        (people.add if is_on else people.discard)(person)

    def suspend(self, person: int, is_on: bool) -> None:
        """Counts and follows stay; nothing of theirs is shown, and no repost of it."""
        (self._suspended.add if is_on else self._suspended.discard)(person)

    def hide(self, post_id: str, is_on: bool) -> None:
        (self._hidden.add if is_on else self._hidden.discard)(post_id)

    def favours(self, person: int, post_id: str) -> bool:
        return person in self._reacted[post_id, "favourite"]

    def reactions(self, person: int, post_id: str, names: Iterable[str]) -> list[dict[str, object]]:
        """Those of these names that a post has, as the API shows them."""
        each = ((name, self._reacted[post_id, name]) for name in names)
        return [
            {"name": name, "count": len(people), "me": person in people}
            for name, people in each
            if people
        ]

    def responses(self, post_id: str) -> Responses:
        replies = [of for reply, of in self._replies.items() if self._visibility[reply] < 2]
        reposts = self._reposts.values()
        favourites = len(self._reacted[post_id, "favourite"])
        return Responses(replies.count(post_id), [*reposts].count(post_id), favourites)

    def home(self, person: int) -> list[str]:
        """The posts and reposts of the person and their followees, newest first; of replies of
        followees those to these and to oneself.

        A post with several sources is at the place of its newest source.
        """
        return _latest_first(brought[0] for brought in self.brought(person).values())

    def brought(self, person: int) -> dict[str, list[str]]:
        """The sources of each post in a home timeline: itself and its reposts, latest first."""
        followed = {person, *self._following[person]}
        posts = self._timeline_posts(followed)
        shown = (one for one in posts if author_of(one) == person or self._is_to(one, followed))
        brought: dict[str, list[str]] = defaultdict(list)
        for post in _latest_first(filter(self._is_shown, shown)):
            brought[self._reposts.get(post, post)].append(post)
        return brought

    def by(self, authors: set[int], replies_to: set[int], muted: set[int]) -> list[str]:
        """What these posted, of replies those to these or to oneself, and reposted of anybody who
        is not muted, newest first; each post once, where it was brought last."""
        brought: dict[str, str] = {}
        posts = self._timeline_posts(authors)
        for post in reversed(_latest_first(posts)):
            original = self._reposts.get(post, post)
            is_wanted = self._is_to(post, replies_to) and author_of(original) not in muted
            if is_wanted and self._is_shown(post):
                brought[original] = post
        return _latest_first(brought.values())

    def _timeline_posts(self, authors: set[int]) -> set[str]:
        """Direct posts are in no timeline."""
        posts = {post for author in authors for post in self._posts[author]}
        return {post for post in posts if self._visibility[post] < 3}

    def _is_to(self, post_id: str, people: set[int]) -> bool:
        parent = self._replies.get(post_id)
        return parent is None or author_of(parent) in {*people, author_of(post_id)}

    def posts(self, author: int) -> list[str]:
        """One's own posts, newest first."""
        return _latest_first(filter(self._is_shown, self._posts[author]))

    def _is_shown(self, post_id: str) -> bool:
        original = self._reposts.get(post_id)
        if self._is_judged(post_id):
            return False
        if original is None:
            return True
        is_there = any(original in posts for posts in self._posts.values())
        return is_there and not self._is_judged(original)

    def _is_judged(self, post_id: str) -> bool:
        if post_id in self._hidden:
            return True
        return bool(self._suspended) and author_of(post_id) in self._suspended

    def following(self, person: int) -> list[int]:
        """Everybody followed, the latest first; of equals the higher id first."""
        return _newest_first(self._following[person])

    def followers(self, person: int) -> list[int]:
        """Everybody who follows, the latest first; of equals the higher id first."""
        return _newest_first(self._followers[person])

    def counts(self, person: int) -> Counts:
        return Counts(
            len(self._followers[person]),
            len(self._following[person]),
            len([post for post in self._posts[person] if self._visibility[post] < 3]),
        )


def author_of(post_id: str) -> int:
    """A post id has six base36 digits of the second, six of the author, two of the sequence."""
    return int(post_id) // 36**2 % 36**6


def _latest_first(posts: Iterable[str]) -> list[str]:
    """Of two decimal numbers the longer text is the greater one."""
    return sorted(posts, key=lambda post: (len(post), post), reverse=True)


def _newest_first(since_ms: dict[int, int]) -> list[int]:
    return sorted(since_ms, key=lambda person: (since_ms[person], person), reverse=True)
