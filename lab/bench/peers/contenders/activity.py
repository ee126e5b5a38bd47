"""django-activity-stream as documented: it pulls actions through generic relations."""

from collections.abc import Sequence
from typing import Any

from actstream.actions import follow, unfollow
from actstream.models import user_stream
from actstream.signals import action
from django.contrib.auth.models import User
from django.db import connection

from lab.bench.peers.contenders.models import FeedPost
from lab.bench.peers.contenders.tables import at

ACTIONS = """
INSERT INTO actstream_action (actor_content_type_id, actor_object_id, verb,
    action_object_content_type_id, action_object_object_id, timestamp, public)
SELECT actor.id, author_id, 'posted', object.id, post.id, created_at, true
FROM contenders_feedpost AS post, django_content_type AS actor, django_content_type AS object
WHERE actor.model = 'user' AND object.model = 'feedpost' ORDER BY post.id
"""
FOLLOWS = """
INSERT INTO actstream_follow (user_id, content_type_id, object_id, actor_only, flag, started)
SELECT follower_id, actor.id, followee_id, true, '', now()
FROM contenders_feedfollow, django_content_type AS actor WHERE actor.model = 'user'
"""


class ActivityStream:
    """Pulls at every read, like the naive query. It has no push that could be killed."""

    def prepare(self, readers: Sequence[int]) -> None:
        with connection.cursor() as cursor:
            cursor.execute(ACTIONS)
            cursor.execute(FOLLOWS)
            cursor.execute("VACUUM ANALYZE")

    def home(self, reader: int, limit: int) -> list[dict[str, Any]]:
        """`user_stream` loads actors and objects itself, with one query each."""
        return [
            {
                "id": activity.action_object.id,
                "author": activity.actor.username,
                "text": activity.action_object.text,
                "at": activity.timestamp,
            }
            for activity in user_stream(User(id=reader))[:limit]
        ]

    def follow(self, readers: Sequence[int], author: int) -> None:
        for reader in readers:
            follow(User(id=reader), User(id=author), send_action=False)

    def unfollow(self, readers: Sequence[int], author: int) -> None:
        for reader in readers:
            unfollow(User(id=reader), User(id=author))

    def post(self, author: int, text: str, second: float) -> int:
        post = FeedPost.objects.create(author_id=author, text=text, created_at=at(second))
        action.send(User(id=author), verb="posted", action_object=post, timestamp=at(second))
        return int(post.id)

    def delete(self, post: int) -> None:
        """The action is deleted with the post, by a generic relation of the registry."""
        FeedPost.objects.get(id=post).delete()

    def bytes_an_entry(self, readers: Sequence[int]) -> float:
        return 0
