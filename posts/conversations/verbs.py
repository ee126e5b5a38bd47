"""Commands that compare conversations with direct posts, and write them."""

from infra.jobs.audit import AuditCommand, Derived
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from posts.conversations.jobs.audit_conversations import (
    backfill_conversations,
    judge_listed,
    judge_written,
)
from posts.conversations.sql import DIRECT_POSTS
from posts.sql import DIRECT_POSTS_WRITTEN


class AuditConversations(AuditCommand):
    """Compares the rows of conversations with the direct posts themselves.

    **When**: as [`audit responses`](#audit-responses), for direct posts. It compares what accounts
    have of direct posts with the posts, both ways. `--repair` ends what is of lost or deleted
    posts, and lists the others again. **Costs**: for 500 rows one query, and one or two on each
    shard of the other side.

    ```
    $ manage.py audit conversations
    account 17: direct post 80389081244517729553 for 8 was lost
    16,410 rows done, 1 failed
    ```
    """

    name = "audit conversations"
    passes = Derived(DIRECT_POSTS, judge_listed), Derived(DIRECT_POSTS_WRITTEN, judge_written)


class BackfillConversations(JobCommand):
    """Writes the conversations of accounts from the direct posts. --account is the author.

    **When**: after rows of conversations were lost. [`audit conversations`](#audit-conversations)
    finds them. It writes the conversations of authors and mentioned accounts from their direct
    posts. A conversation that its owner took off the list stays off. `--account` selects by author.
    **Costs**: for 500 direct posts one query, and one statement on each shard of the accounts.
    """

    name = "backfill conversations"
    unit = "direct posts"
    flags = WALK
    job = staticmethod(backfill_conversations)
