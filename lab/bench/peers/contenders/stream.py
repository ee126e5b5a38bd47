"""Stream-Framework: tasks for 100 followers push ids to sorted sets in Redis."""

import time
from collections.abc import Sequence
from typing import Any

from lab.bench.peers.contenders.feeds import BatchedHomes, Homes, TheirHomeFeed, activity_of
from lab.bench.peers.contenders.models import FeedFollow, FeedPost
from lab.bench.peers.contenders.queue import app
from lab.bench.peers.contenders.tables import at
from lab.bench.peers.contenders.worker import Worker

GIVE_UP_S = 180
# Longer than the broker holds back the tasks of a killed worker.
SETTLED_AFTER_S = 30


class StreamFramework:
    """Tasks run in this process without a queue, except when a worker is killed."""

    def __init__(self) -> None:
        app.conf.task_always_eager = True
        self._homes = Homes()
        self._batched = BatchedHomes()

    def prepare(self, readers: Sequence[int]) -> None:
        """Fills the readers' feeds with the newest entries, as years of pushes would."""
        for reader in readers:
            followees = FeedFollow.objects.filter(follower_id=reader).values("followee_id")
            newest = FeedPost.objects.filter(author_id__in=followees).order_by("-id")
            activities = [activity_of(post) for post in newest[: TheirHomeFeed.max_length]]
            TheirHomeFeed.insert_activities(activities)
            TheirHomeFeed(reader).add_many(activities, trim=False)

    def home(self, reader: int, limit: int) -> list[dict[str, Any]]:
        """The posts of the feed's ids, without deleted ones."""
        activities = TheirHomeFeed(reader)[:limit]
        posts = FeedPost.objects.select_related("author").in_bulk(
            [activity.object_id for activity in activities]
        )
        return [
            {"id": post.id, "author": post.author.username, "text": post.text, "at": activity.time}
            for activity in activities
            if (post := posts.get(activity.object_id))
        ]

    def follow(self, readers: Sequence[int], author: int) -> None:
        FeedFollow.objects.bulk_create(
            FeedFollow(follower_id=reader, followee_id=author) for reader in readers
        )
        for reader in readers:
            self._homes.follow_many_users(reader, [author], False)

    def unfollow(self, readers: Sequence[int], author: int) -> None:
        FeedFollow.objects.filter(follower_id__in=readers, followee_id=author).delete()
        for reader in readers:
            self._homes.unfollow_many_users(reader, [author], False)

    def post(self, author: int, text: str, second: float) -> int:
        return self._post(self._homes, author, text, second)

    def post_batched(self, author: int, text: str, second: float) -> int:
        return self._post(self._batched, author, text, second)

    def _post(self, homes: Homes, author: int, text: str, second: float) -> int:
        post = FeedPost.objects.create(author_id=author, text=text, created_at=at(second))
        homes.add_user_activity(author, activity_of(post))
        return int(post.id)

    def delete(self, post: int) -> None:
        row = FeedPost.objects.get(id=post)
        self._homes.remove_user_activity(row.author_id, activity_of(row))
        row.delete()

    def post_and_kill(self, author: int, text: str, second: float) -> dict[str, int]:
        """Kills the worker when some followers have the post, then starts another one."""
        readers = self._homes.get_user_follower_ids(author)["HIGH"]
        app.conf.task_always_eager = False
        try:
            with Worker() as worker:
                post = self.post(author, text, second)
                had = _kill_when_some_have_it(worker, readers, post)
            with Worker():
                time.sleep(SETTLED_AFTER_S)
        finally:
            app.conf.task_always_eager = True
        return {"post": post, "had": had}

    def bytes_an_entry(self, readers: Sequence[int]) -> float:
        """Bytes of the sorted sets, without the activities that all feeds share."""
        redis = TheirHomeFeed.get_timeline_batch_interface()
        for reader in readers:
            redis.memory_usage(TheirHomeFeed(reader).key, 0)
        return sum(redis.execute()) / sum(TheirHomeFeed(reader).count() for reader in readers)


def _kill_when_some_have_it(worker: Worker, readers: Sequence[int], post: int) -> int:
    activity = activity_of(FeedPost.objects.get(id=post)).serialization_id
    deadline = time.monotonic() + GIVE_UP_S
    while not (had := _count(readers, activity)):
        if time.monotonic() > deadline:
            raise TimeoutError("the worker pushed nothing")
    worker.kill()
    return max(had, _count(readers, activity))


def _count(readers: Sequence[int], activity: int) -> int:
    redis = TheirHomeFeed.get_timeline_batch_interface()
    for reader in readers:
        redis.zscore(TheirHomeFeed(reader).key, activity)
    return sum(score is not None for score in redis.execute())
