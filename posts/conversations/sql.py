"""The tables of conversations, for jobs that walk all rows."""

from infra.jobs.walk import Table

CONVERSATIONS = Table("conversations_conversation", ("owner_id", "thread_author", "thread_moment"))
DIRECT_POSTS = Table("conversations_directpost", ("owner_id", "second", "author_id", "sequence"))
