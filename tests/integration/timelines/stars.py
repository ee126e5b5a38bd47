"""A star with many followers: a post makes the star hot, and unfollows cool it."""

from infra.caching.questions import answer
from infra.sharding.buckets import shard_of
from posts.ids import EPOCH, PostId
from relations.actions.follow import follow, unfollow
from tests.world import drain_all, make_accounts, publish
from timelines.hot.actions.cool import cool_shard
from timelines.hot.queries.hot_authors import list_unpushed_authors
from timelines.stores.factory import timeline_store


class Fans:
    """A star that all follow, and a friend that only I follow."""

    def __init__(self, followers: int = 3) -> None:
        self.star, self.friend, *self.fans = make_accounts(followers + 2)
        self.me = self.fans[0]
        for fan in self.fans:
            follow(fan, self.star)
        follow(self.me, self.friend)
        drain_all()
        self.posts: list[PostId] = []

    def post(self, author: int | None = None) -> PostId:
        post = publish(author or self.star, clock_s=lambda: EPOCH + 1000 + 10 * len(self.posts))
        self.posts.append(post)
        return post

    @property
    def shard(self) -> str:
        return shard_of(self.star)

    def heat(self) -> None:
        """A post makes the star hot, and is itself still pushed."""
        self.post()
        drain_all()
        assert list_unpushed_authors(self.shard, [self.star]) == {self.star}

    def cool(self) -> None:
        for fan in self.fans[1:]:
            unfollow(fan, self.star)
        drain_all()
        assert cool_shard(self.shard) == [self.star]
        assert list_unpushed_authors(self.shard, [self.star]) == set()

    def expected(self) -> list[str]:
        return [post.public for post in sorted(self.posts, reverse=True)]

    def stored(self) -> int:
        """Entries in my live timeline, as the store has it."""
        live = answer(timeline_store().ask(self.me))
        assert live is not None
        return len(set(live.packed))
