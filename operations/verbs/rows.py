"""Commands on rows of all apps: a check of their promises, and changes for foreign writes."""

import random
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from accounts.jobs.announce_accounts import ACCOUNTS
from infra.jobs.announce import WrittenSpan, announce_lines, announce_span
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag, count, parse_moment
from infra.jobs.types import Batch, Work
from infra.sharding.placement import GLOBAL_ALIAS
from operations.jobs.check_invariants import check_drained, check_invariants, sample_invariants
from posts.jobs.announce_posts import POSTS
from relations.jobs.announce_follows import FOLLOWS
from timelines.jobs.live_timelines import parse_share

TABLES = {"accounts": ACCOUNTS, "follows": FOLLOWS, "posts": POSTS}
STDIN = "-"
LAG_S = 60


class AnnounceRows(JobCommand):
    """For rows that another program changed by SQL: writes changes for them, so that caches,
    counts, other shards, timelines and subscribers of the change feed follow.

    **When**: another program has changed rows by SQL: a repair by hand, a job of a data platform,
    an import of your own. For each row it writes the change that the API would have written, in a
    transaction with the lock of the account. So caches, counts, the other side of follows,
    timelines, indexes and [subscribers](../../how-to/follow-changes.md) follow: the account's own
    pages at once, and what is on other shards when the worker has delivered it.

    | table | a line of `--ids` | rows of a span | a row that is not there |
    |---|---|---|---|
    | `accounts` | account | created then | failed |
    | `follows`, with blocks | follower and followee | begun then | has ended |
    | `posts` | post, as the API names it | written, edited or deleted then | is deleted |

    Name the rows by `--ids FILE` (`-`: standard input), by `--account`, or by `--since` and
    `--until`. A span reads all rows, because tables have no index by time. Text, tags and mentions
    of a post are what its columns say: a program that writes `text` writes `tags` and `mentions`
    too. Tags that an edit removed stay in the tag index until [`audit tags
    --repair`](timelines.md#audit-tags). Usernames, passwords, tokens and restrictions are not
    announced: change them in the admin. **Costs**: a dozen statements for each follow, five for
    each post, and as [`rebuild counters`](counters.md#rebuild-counters) for each account. `--rate`
    spreads them. **Stopping it**: killed between rows and counts, changes that were written are
    delivered, and counts are as wrong as before; `--resume` goes on and counts again. To announce a
    row twice does no harm.

    ```
    $ manage.py changes announce posts --since 2026-11-27T10:00 --until 2026-11-27T11:00
    post 1861202083038171957792
    1 rows done, 1 changed, 0 failed
    ```
    """

    name = "changes announce"
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


class CheckInvariants(JobCommand):
    """Checks that changes are drained, both sides of edges agree, counts equal their rows and live
    timelines are complete. Prints a line for each fault; then the exit code is 1.

    **When**: from cron, after an incident, before and after a migration. It checks whether the data
    keeps its promises. It runs the audits and repairs nothing: changes are drained (none parked,
    paused or pending for more than `--lag-s`, 60); edges
    ([`audit edges`](relations.md#audit-edges): both sides agree, counts of relations equal their
    rows, a mutual follow is mutual on both sides, no follow crosses a block); all counts
    ([`audit counters`](counters.md#audit-counters)); live timelines
    ([`audit timelines`](timelines.md#audit-timelines), `--share`). It prints a line for each fault;
    then the exit code is 1.

    `--sample 100` checks 100 random accounts of each shard and the rows they own; that takes about
    a minute. Without `--sample` and without `--account`, it checks all rows. **Costs**: as the
    three audits together; with `--sample` about twenty short statements per account.

    ```
    $ manage.py audit invariants --sample 100
    shard2 lane 0: 1 changes parked
    account 17 FOLLOWERS: 4 -> 1
    2,391 rows done, 2 failed
    ```
    """

    name = "audit invariants"
    unit = "rows"
    flags = WALK - {JobFlag.DRY_RUN}
    batch_size = 100
    _is_default_checked = False

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--sample",
            type=count,
            metavar="ACCOUNTS",
            help="random accounts of each shard (all)",
        )
        parser.add_argument(
            "--share",
            type=parse_share,
            default=1.0,
            help="random part of the live timelines to check, such as 0.01 (all)",
        )
        parser.add_argument(
            "--lag-s", type=count, default=LAG_S, help=f"seconds a change may wait ({LAG_S})"
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        sample = options["sample"]
        # Once a run, with the first of its shards.
        others = () if self._is_default_checked else (GLOBAL_ALIAS,)
        self._is_default_checked = True
        drained = partial(check_drained, options["lag_s"], others)
        if sample is not None and work.account_id is None:
            checks = sample_invariants(work, drained, sample, random.random, self.pause)
        else:
            checks = check_invariants(work, drained, options["share"], self.pause)
        return checks
