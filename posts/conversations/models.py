"""Tables of conversations: the direct posts of an account, and its threads of them. All sharded."""

from django.db import models

from infra.sharding.models import ShardedModel


class DirectPost(ShardedModel):
    """SHARDED by owner_id, few an account: a direct post that the owner wrote or that mentions it.

    Derived from posts by keep_conversations. The row names the first post of the thread. `arrival`:
    microseconds since 1970, when the post was written. It orders the posts of one second.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "second", "author_id", "sequence")
    owner_id = models.BigIntegerField()
    second = models.BigIntegerField()
    author_id = models.BigIntegerField()
    sequence = models.SmallIntegerField()
    thread_author = models.BigIntegerField()
    thread_moment = models.BigIntegerField()
    arrival = models.BigIntegerField(db_default=0)

    class Meta:
        indexes = [
            # the latest post of a thread, after another one was deleted
            models.Index(
                fields=[
                    "owner_id", "thread_author", "thread_moment",
                    "-second", "-arrival", "-author_id", "-sequence",
                ],
                name="direct_post_thread",
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.author_id}/{self.second}/{self.sequence}"


class Conversation(ShardedModel):
    """SHARDED by owner_id, few an account: a thread with direct posts for the owner.

    `last_…`: the id and the arrival of the latest of them. Written by keep_conversations; its owner
    reads it or removes it from the list until the next direct post.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "thread_author", "thread_moment")
    owner_id = models.BigIntegerField()
    thread_author = models.BigIntegerField()
    thread_moment = models.BigIntegerField()
    last_second = models.BigIntegerField()
    last_author = models.BigIntegerField()
    last_sequence = models.SmallIntegerField()
    last_arrival = models.BigIntegerField(db_default=0)
    is_unread = models.BooleanField()

    class Meta:
        indexes = [
            # the owner's conversations, latest first
            models.Index(
                fields=["owner_id", "-last_second", "-last_author", "-last_sequence"],
                name="conversation_list",
            ),
            # how many are unread
            models.Index(
                fields=["owner_id", "-last_second", "-last_author", "-last_sequence"],
                name="conversation_unread",
                condition=models.Q(is_unread=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.thread_author}/{self.thread_moment}"
