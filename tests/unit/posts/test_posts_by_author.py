"""Which copies of posts a process keeps, against a plain model of the rule."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from infra.caching.copy_ages import AgeLimit
from infra.caching.invalidation_log import InvalidationLog
from posts.cache.by_author import EVICTED_PART, PostCopy, PostsByAuthor
from posts.cache.in_process import USES_COUNTED, InProcessPosts
from posts.ids import PostId

MOST = 2 * EVICTED_PART
posts = st.builds(PostId, st.integers(0, 9), st.integers(1, 6), st.integers(0, 1))
steps = st.one_of(
    st.tuples(st.just("put"), st.lists(posts, max_size=8, unique=True)),
    st.tuples(st.just("put"), st.lists(posts, max_size=8, unique=True)),
    st.tuples(st.just("find"), st.lists(posts, max_size=8)),
    st.tuples(st.just("pop"), st.lists(posts, max_size=2)),
)


def copy_of(post_id: PostId) -> PostCopy:
    return PostCopy(post_id.packed, 60.0)


class Model:
    """The rule, word by word: one post after the other, without any index."""

    def __init__(self) -> None:
        self.posts: list[PostId] = []
        self.reads: dict[int, int] = {}

    def put(self, ids: list[PostId]) -> None:
        for post_id in ids:
            self.reads[post_id.author_id] = self.reads.get(post_id.author_id, 0) + 1
            self.posts = [*(one for one in self.posts if one != post_id), post_id]
        if len(self.posts) > MOST:
            while len(self.posts) > MOST - MOST // EVICTED_PART:
                self._evict_one()
            self.reads = {author: reads // 2 for author, reads in self.reads.items()}

    def find(self, ids: list[PostId]) -> None:
        for post_id in ids:
            if post_id in self.posts:
                self.reads[post_id.author_id] += 1

    def pop(self, ids: list[PostId]) -> None:
        self.posts = [one for one in self.posts if one not in ids]
        self._forget_authors()

    def _evict_one(self) -> None:
        author = min(self.reads, key=lambda one: self.reads[one])
        self.posts.remove(min(one for one in self.posts if one.author_id == author))
        self._forget_authors()

    def _forget_authors(self) -> None:
        left = {post_id.author_id for post_id in self.posts}
        self.reads = {author: n for author, n in self.reads.items() if author in left}


@given(st.lists(steps, max_size=30))
def test_the_least_read_author_loses_the_oldest_posts(history: list) -> None:
    cache, model = PostsByAuthor(MOST), Model()
    for name, ids in history:
        if name == "put":
            cache.put({post_id: copy_of(post_id) for post_id in ids})
            model.put(ids)
        elif name == "find":
            found = [post_id for post_id in ids if cache.find(post_id)]
            assert found == [post_id for post_id in ids if post_id in model.posts]
            model.find(ids)
        else:
            for post_id in ids:
                cache.pop(post_id)
            model.pop(ids)
        kept = {PostId.from_packed(copy.text) for copy in cache.all()}
        assert kept == set(model.posts)
        assert len(kept) <= MOST


def test_only_finished_copies_are_fresh_and_only_those_asked_for_lately() -> None:
    cache, post_id, other = PostsByAuthor(MOST), PostId(1, 2, 3), PostId(1, 2, 4)
    plain = PostCopy(b"fragment", 60.0)
    cache.put({post_id: plain.finish(b"{fragment,more}", b"account", b"counts", 5.0), other: plain})
    assert list(cache.find_fresh([other, post_id], 4.9)) == [post_id]
    assert (cache.are_fresh([post_id], 4.9), cache.are_fresh([post_id], 5.0)) == (True, False)
    assert cache.find_fresh([other, post_id], 5.0) == {}
    finished = cache.find(post_id)
    assert finished is not None
    assert (finished.fragment, finished.kept_until) == (b"fragment", 60.0)


def test_reads_of_a_kept_page_count_too() -> None:
    """Else the posts that everybody looks at, which pages keep, would be the first to go."""
    memory = InProcessPosts(InvalidationLog(), lambda: 10.0, AgeLimit(1.0, 30.0, lambda _: False))
    memory._posts = PostsByAuthor(MOST)
    hot, cold = PostId(1, 1, 0), PostId(1, 2, 0)
    for post_id in (hot, cold):
        finished = copy_of(post_id).finish(b"{}", b"account", b"counts", 10.0)
        memory._posts.put({post_id: finished})
    page = memory.peek_finished([hot])
    for _ in range(40 * USES_COUNTED):
        assert memory.are_usable(page.values(), ())
    for _ in range(20):
        memory.peek_finished([cold])
    memory._posts.put({PostId(second, 3, 0): copy_of(hot) for second in range(MOST)})
    assert hot in memory._posts
    assert cold not in memory._posts


def test_threads_read_while_others_change_it() -> None:
    """Reads take no lock. They must neither fail nor return another post's copy."""
    cache, lock, errors = PostsByAuthor(64), threading.Lock(), list[str]()
    ids = [PostId(second, author, 0) for second in range(40) for author in range(1, 5)]
    start = threading.Barrier(4)

    def read() -> None:
        start.wait()
        for post_id in ids * 20:
            copy = cache.find(post_id)
            if copy is not None and copy.text != post_id.packed:
                errors.append(f"{post_id}: {copy.text!r}")

    def change() -> None:
        start.wait()
        for round_ in range(20):
            for post_id in ids[round_ % 3 :: 3]:
                with lock:
                    cache.put({post_id: copy_of(post_id)})
                    cache.pop(ids[-1])

    threads = [threading.Thread(target=one) for one in (read, read, change, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sum(1 for _ in cache.all()) <= 64
