"""What an account does with its own conversations: one statement each, and a command of Redis."""

from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute
from posts.conversations.cache import end_unread_of
from posts.conversations.errors import ConversationNotFound
from posts.ids import PostId

WHERE = "WHERE owner_id = %s AND thread_author = %s AND thread_moment = %s"
MARK = f"UPDATE conversations_conversation SET is_unread = %s {WHERE}"  # noqa: S608
READ_UP_TO = f"""{MARK} AND (
    last_second < %s OR (last_second, last_author, last_sequence) = (%s, %s, %s)
)"""
DELETE = f"DELETE FROM conversations_conversation {WHERE}"  # noqa: S608
DELETE_POST = """
DELETE FROM conversations_directpost
WHERE owner_id = %s AND second = %s AND author_id = %s AND sequence = %s
"""


def mark(owner_id: int, thread: PostId, *, is_unread: bool) -> None:
    """Marks a conversation as read or unread. Raises: ConversationNotFound. Safety: idempotent."""
    parameters = (is_unread, owner_id, thread.author_id, thread.moment)
    if not execute(shard_of(owner_id), MARK, parameters):
        raise ConversationNotFound
    end_unread_of(owner_id)


def mark_read_up_to(owner_id: int, thread: PostId, seen: PostId) -> None:
    """Marks a conversation as read, unless it has a later post than the one that was seen. One of
    the same second may be later. Safety: idempotent."""
    up_to = (seen.second, seen.second, seen.author_id, seen.sequence)
    conversation = (owner_id, thread.author_id, thread.moment)
    execute(shard_of(owner_id), READ_UP_TO, (False, *conversation, *up_to))
    end_unread_of(owner_id)


def delete_conversation(owner_id: int, thread_author: int, thread_moment: int) -> bool:
    """Removes a conversation from the owner's list until its next direct post. Its posts stay.

    False: there is none. Safety: idempotent.
    """
    parameters = (owner_id, thread_author, thread_moment)
    is_deleted = bool(execute(shard_of(owner_id), DELETE, parameters))
    end_unread_of(owner_id)
    return is_deleted


def forget_direct_post(owner_id: int, second: int, author_id: int, sequence: int) -> None:
    """For the purge of the owner. Safety: idempotent."""
    execute(shard_of(owner_id), DELETE_POST, (owner_id, second, author_id, sequence))
