"""`manage.py audit_responses`: compares responses with their sources, and repairs both sides.

**When**: to check that replies, reposts, favourites and quotes are those of the accounts that made
them: after a shard was restored, or changes were discarded. It reads all responses and what they
are made from. Each difference is a line and a failed row. `--repair` repairs them:

- *was lost*: the responder's shard lacks what the response says. A favourite, or its end, is
  written again. A reply or repost is ended everywhere, because its text is gone.
- *is back*: a reply or repost whose deletion was lost. It is deleted again. A quote is revoked.
- *is not recorded*, *is still counted*: the response is recorded as its source is now.
- *shows a post that does not exist*: the repost is undone.

With `--restored-wins` lost favourites end on both sides, and posts that are back stay and count as
failed. What a pending change explains is compared again, for two seconds. `--account` selects
responses to posts of the account, and what it responded itself. **Costs**: for 500 rows one query,
and one or two on each shard of the other side.

```
$ manage.py audit_responses --repair
account 17: favourite of 80389078423407831168 was lost: repaired
account 17: post 80389078423407822101, a reply to 80389078423407831168, was lost: repaired
8,990 rows done, 2 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from infra.jobs.command import JobCommand
from infra.jobs.findings import RESTORED_WINS
from infra.jobs.flags import WALK
from infra.jobs.types import Batch, Work
from posts.jobs.audit_responses import audit_responses, estimate_response_audit


class Command(JobCommand):
    help = (
        "Compares recorded replies, reposts and favourites with the posts and marks themselves."
        " Differences that are not repaired count as failed, so the exit code is 1."
    )
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair the differences")
        parser.add_argument("--restored-wins", action="store_true", help=RESTORED_WINS)

    def count_total(self, work: Work, options: dict[str, Any]) -> int | None:
        return estimate_response_audit(work)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        return audit_responses(work, options["repair"], self.pause, options["restored_wins"])
