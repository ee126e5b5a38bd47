"""`manage.py backfill_conversations`: writes conversations from the direct posts.

**When**: after rows of conversations were lost. [`audit_conversations`](#audit_conversations) finds
them. It writes the conversations of authors and mentioned accounts from their direct posts. A
conversation that its owner took off the list stays off. `--account` selects by author. **Costs**:
for 500 direct posts one query, and one statement on each shard of the accounts.
"""

from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.conversations.jobs.backfill_conversations import backfill_conversations


class Command(JobCommand):
    help = "Writes the conversations of accounts from the direct posts. --account is the author."
    unit = "direct posts"
    flags = WALK

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return backfill_conversations(work)
