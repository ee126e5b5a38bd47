"""`manage.py announce_rows`: lets all that is derived follow rows that another program wrote.

**When**: another program has changed rows by SQL: a repair by hand, a job of a data platform, an
import of your own. For each row it writes the change that the API would have written, in a
transaction with the lock of the account. So caches, counts, the other side of follows, timelines,
indexes and [subscribers](../../how-to/follow-changes.md) follow: the account's own pages at once,
and what is on other shards when the worker has delivered it.

| table | a line of `--ids` | rows of a span | a row that is not there |
|---|---|---|---|
| `accounts` | account | created then | failed |
| `follows`, with blocks | follower and followee | begun then | has ended |
| `posts` | post, as the API names it | written, edited or deleted then | is deleted |

Name the rows by `--ids FILE` (`-`: standard input), by `--account`, or by `--since` and `--until`.
A span reads all rows, because tables have no index by time. Text, tags and mentions of a post are
what its columns say: a program that writes `text` writes `tags` and `mentions` too. Tags that an
edit removed stay in the tag index until [`audit_tags --repair`](timelines.md#audit_tags).
Usernames, passwords, tokens and restrictions are not announced: change them in the admin.
**Costs**: a dozen statements for each follow, five for each post, and as
[`recount_counters`](counters.md#recount_counters) for each account. `--rate` spreads them.
**Stopping it**: killed between rows and counts, changes that were written are delivered, and counts
are as wrong as before; `--resume` goes on and counts again. To announce a row twice does no harm.

```
$ manage.py announce_rows posts --since 2026-11-27T10:00 --until 2026-11-27T11:00
post 1861202083038171957792
1 rows done, 1 changed, 0 failed
```
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandError

from accounts.jobs.announce_accounts import ACCOUNTS
from infra.jobs.announce import WrittenSpan, announce_lines, announce_span
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, parse_moment
from infra.jobs.types import Batch, Work
from posts.jobs.announce_posts import POSTS
from relations.jobs.announce_follows import FOLLOWS

TABLES = {"accounts": ACCOUNTS, "follows": FOLLOWS, "posts": POSTS}
STDIN = "-"


class Command(JobCommand):
    help = (
        "For rows that another program changed by SQL: writes changes for them, so that caches,"
        " counts, other shards, timelines and subscribers of the change feed follow."
    )
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("table", choices=[*TABLES], help="whose rows")
        parser.add_argument(
            "--ids",
            metavar="FILE",
            help="only these, a line each: an account, two accounts of a follow, a post;"
            f" {STDIN}: standard input",
        )
        parser.add_argument("--since", type=parse_moment, help="written from, ISO 8601")
        parser.add_argument("--until", type=parse_moment, help="written before")

    def is_by_database(self, options: dict[str, Any]) -> bool:
        return options["ids"] is None

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        rows, span = TABLES[options["table"]], WrittenSpan(options["since"], options["until"])
        if options["ids"] is None:
            if span == (None, None) and work.account_id is None:
                raise CommandError("name rows by --ids, --account, --since or --until")
            yield from announce_span(work, rows, span)
            return
        if span != (None, None) or work.account_id is not None or len(work.aliases) == 1:
            raise CommandError("--ids says which rows: it goes without other choices")
        with _open(options["ids"]) as lines:
            yield from announce_lines(work, rows, lines)


def _open(path: str) -> Any:
    """Raises: CommandError."""
    try:
        return nullcontext(sys.stdin) if path == STDIN else open(path, encoding="utf-8")
    except OSError as error:
        raise CommandError(str(error)) from None
