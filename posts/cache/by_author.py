"""Copies of posts in process memory, organised by author (seed S0), with a bound for all together.

Within an author the oldest posts are evicted first, across authors the least-read author first.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Self

from posts.api.present import is_open
from posts.ids import PostId

# The time in a copy that must not be used any more.
ENDED = float("-inf")
# An eviction makes room for this part of all copies, so that it is rare.
EVICTED_PART = 16


class PostCopy:
    """What a process knows of one post. Times are of the caller's clock.

    `text`: the fragment of the post. If the post is finished: its Status entity without the
    viewer's flags.
    `kept_until`: the fragment may be used until then.
    `account`, `counts`: of a finished post, the JSON of these parts. `asked_at`: when the older one
    of the two was asked for. `is_open`: whether the post is public or unlisted.
    `author`: set when the copy is stored.

    A page that was made of a copy looks at these times. So a copy that is removed or replaced must
    end (`end`).
    """

    __slots__ = (
        "_fragment_bytes",
        "account",
        "asked_at",
        "author",
        "counts",
        "is_open",
        "kept_until",
        "text",
    )

    def __init__(self, fragment: bytes, kept_until: float) -> None:
        self.text, self.kept_until = fragment, kept_until
        self._fragment_bytes = len(fragment)
        self.account, self.counts, self.asked_at = b"", b"", ENDED
        self.is_open = False
        self.author: _Author | None = None

    def finish(self, status: bytes, account: bytes, counts: bytes, asked_at: float) -> Self:
        """A finished copy of the same post. `status` has the fragment after its first byte."""
        finished = type(self)(status, self.kept_until)
        finished._fragment_bytes = self._fragment_bytes
        finished.account, finished.counts, finished.asked_at = account, counts, asked_at
        finished.is_open = is_open(status)
        return finished

    def end(self) -> None:
        """Pages that were made of this copy are not used any more."""
        self.kept_until = self.asked_at = ENDED

    def is_made_of(self, fragment: bytes, account: bytes, counts: bytes) -> bool:
        """Whether this is the finished copy of these parts."""
        return (
            self.account == account
            and self.counts == counts
            and self._fragment_bytes == len(fragment)
            and self.text.startswith(fragment, 1)
        )

    @property
    def fragment(self) -> bytes:
        # The entity has it anyway: keeping it twice would take half as much memory again.
        return self.text[1 : self._fragment_bytes + 1] if self.account else self.text


class _Author:
    """The copies of one author's posts. `reads`: about how often they were read lately."""

    __slots__ = ("copies", "reads")

    def __init__(self) -> None:
        self.copies: dict[PostId, PostCopy] = {}
        self.reads = 0


class PostsByAuthor:
    """Copies of posts; at most `most` after each change.

    Safety: any thread may read. The caller's lock allows one change at a time.
    """

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._authors: dict[int, _Author] = {}

    def __contains__(self, post_id: PostId) -> bool:
        return self.find(post_id) is not None

    def find(self, post_id: PostId) -> PostCopy | None:
        """The copy of one post. Counts a read of its author."""
        author = self._authors.get(post_id.author_id)
        copy = author.copies.get(post_id) if author is not None else None
        if author is not None and copy is not None:
            author.reads += 1
        return copy

    def find_fresh(self, ids: Iterable[PostId], oldest: float) -> dict[PostId, PostCopy]:
        """The finished copies asked for after `oldest`. Counts a read of their authors."""
        posts, authors = {}, self._authors
        for post_id in ids:
            author = authors.get(post_id[1])
            if author is not None:
                copy = author.copies.get(post_id)
                if copy is not None and copy.asked_at > oldest:
                    author.reads += 1
                    posts[post_id] = copy
        return posts

    def are_fresh(self, ids: Iterable[PostId], oldest: float) -> bool:
        """Whether `find_fresh` would find all. Counts no reads."""
        authors = self._authors
        for post_id in ids:
            author = authors.get(post_id[1])
            copy = author.copies.get(post_id) if author is not None else None
            if copy is None or copy.asked_at <= oldest:
                return False
        return True

    @staticmethod
    def count_reads(copies: Iterable[PostCopy], times: int) -> None:
        """Counts reads of copies that a page has kept, and that it did not search here."""
        for copy in copies:
            author = copy.author  # another thread may remove the copy
            if author is not None:
                author.reads += times

    def of_author(self, author_id: int) -> Collection[PostCopy]:
        author = self._authors.get(author_id)
        return author.copies.values() if author is not None else ()

    def all(self) -> Iterator[PostCopy]:
        return (copy for author in self._authors.values() for copy in author.copies.values())

    def put(self, copies: Mapping[PostId, PostCopy]) -> None:
        """Adds or replaces copies. Counts a read of their authors."""
        for post_id, copy in copies.items():
            author = self._authors.get(post_id.author_id)
            if author is None:
                author = self._authors[post_id.author_id] = _Author()
            author.reads += 1
            old = author.copies.get(post_id)
            if old is None:
                self._count += 1
            elif old is not copy:
                old.end()
                old.author = None
            author.copies[post_id], copy.author = copy, author
        if self._count > self._most:
            self._evict(self._count - self._most + self._most // EVICTED_PART)

    def pop(self, post_id: PostId) -> None:
        author = self._authors.get(post_id.author_id)
        copy = author.copies.pop(post_id, None) if author is not None else None
        if author is not None and copy is not None:
            copy.end()
            copy.author = None
            self._count -= 1
            if not author.copies:
                del self._authors[post_id.author_id]

    def clear(self) -> None:
        for copy in self.all():
            copy.end()
            copy.author = None
        self._authors, self._count = {}, 0

    def _evict(self, count: int) -> None:
        """Removes `count` copies. Then reads count half, so that old reads lose weight."""
        for author in sorted(self._authors.values(), key=_reads_of):
            for post_id in sorted(author.copies)[:count]:
                self.pop(post_id)
                count -= 1
            if not count:
                break
        for author in self._authors.values():
            author.reads //= 2


def _reads_of(author: _Author) -> int:
    return author.reads
