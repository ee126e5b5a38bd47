"""Stream-Framework's classes for a home feed in Redis, as documented."""

from lab.bench.peers.contenders.shims import apply_shims

apply_shims()

from django.conf import settings  # noqa: E402
from stream_framework.activity import Activity  # noqa: E402
from stream_framework.feed_managers.base import FanoutPriority, Manager  # noqa: E402
from stream_framework.feeds.redis import RedisFeed  # noqa: E402
from stream_framework.storage.redis.timeline_storage import RedisTimelineStorage  # noqa: E402
from stream_framework.verbs import register  # noqa: E402
from stream_framework.verbs.base import Verb  # noqa: E402

from lab.bench.peers.contenders.models import FeedFollow, FeedPost  # noqa: E402


class PostedVerb(Verb):
    id = 5  # the package has taken 1 to 4
    infinitive = "post"
    past_tense = "posted"


register(PostedVerb)


class TheirHomeFeed(RedisFeed):
    key_format = "feed:home:%(user_id)s"
    max_length = settings.FEED_LENGTH


class AuthorFeed(RedisFeed):
    key_format = "feed:author:%(user_id)s"
    max_length = 10**6  # as UserBaseFeed


class BatchedStorage(RedisTimelineStorage):
    """Uses the pipeline that a fan-out opens. The original class ignores it."""

    def add_to_storage(self, key, activities, batch_interface=None, *args, **kwargs):
        cache = self.get_cache(key)
        cache.redis = batch_interface or cache.redis
        cache.add_many([(int(id_), data) for id_, data in activities.items()])


class BatchedFeed(TheirHomeFeed):
    key_format = "feed:batched:%(user_id)s"
    timeline_storage_class = BatchedStorage


class Homes(Manager):
    feed_classes = {"home": TheirHomeFeed}
    user_feed_class = AuthorFeed

    def get_user_follower_ids(self, user_id):
        followers = FeedFollow.objects.filter(followee_id=user_id).values_list(
            "follower_id", flat=True
        )
        return {FanoutPriority.HIGH: list(followers)}


class BatchedHomes(Homes):
    feed_classes = {"home": BatchedFeed}


def activity_of(post: FeedPost) -> Activity:
    return Activity(post.author_id, PostedVerb, post.id, time=post.created_at.replace(tzinfo=None))
