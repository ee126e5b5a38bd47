"""Commands that suspend, restore, purge and export accounts."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.core.management import CommandError

from accounts.errors import AccountNotFound
from accounts.queries.users import is_user, load_restrictions
from accounts.types import Restriction
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from moderation.actions.decide import decide_on_account
from moderation.errors import SuspensionEnds
from moderation.jobs.export_account import export_account
from moderation.jobs.purge_accounts import purge_accounts
from moderation.queries.decisions import load_ends
from moderation.types import DecisionKind, DecisionOrigin


class DecisionCommand(JobCommand):
    """Base of accounts suspend and accounts restore; a subclass sets `kind`."""

    kind: ClassVar[DecisionKind]
    unit = "accounts"
    flags = frozenset((JobFlag.ACCOUNT, JobFlag.DRY_RUN))

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reason", default="", help="why; the account can read it")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None or not options["reason"].strip():
            raise CommandError("--account and --reason are required")
        return decide_one(work, self.kind, options["reason"], datetime.now(UTC))


def decide_one(work: Work, kind: DecisionKind, reason: str, now: datetime) -> Iterator[Batch]:
    """Decides on the account that `work` names; yields one batch.

    Raises: AccountNotFound, DecisionNeedsReason, AccountPurged. Safety: idempotent.
    """
    account_id = work.account_id or 0
    if work.dry_run:
        is_changed = _would_change(account_id, kind)
    else:
        origin = DecisionOrigin(None, reason)
        is_changed = decide_on_account(account_id, kind, origin, now) is not None
    lines = [f"account {account_id}: {kind}"] if is_changed else []
    yield Batch(1, 0, "", int(is_changed), None, lines)


def _would_change(account_id: int, kind: DecisionKind) -> bool:
    if not is_user(account_id):
        raise AccountNotFound
    restricted = load_restrictions([account_id]).get(account_id)
    restrictions = restricted.restrictions if restricted else Restriction.NONE
    if kind is DecisionKind.RESTORE:
        return restrictions is not Restriction.NONE
    return Restriction.SUSPENDED not in restrictions


class SuspendAccount(DecisionCommand):
    """Suspends an account: its user cannot sign in, and its profile and posts are hidden from all
    accounts. Reversible for SUSPENSION_DAYS. Needs --account and --reason.

    **When**: an account must be suspended at once and the admin is not at hand, or in a script.
    `--account` names the account, `--reason` the reason, which the account can read after it is
    restored. Nothing is deleted ([effects](../../explanation/moderation.md)):
    [`accounts restore`](#accounts-restore) undoes it within `SUSPENSION_DAYS`. **Costs**: five
    statements; three on the account's shard. While the shard is away, the account's clients are
    refused already; the drain hides the account when the shard is back.

    ```
    $ manage.py accounts suspend --account 44 --reason "sells followers"
    account 44: suspend
    1 accounts done, 1 changed, 0 failed
    ```
    """

    name = "accounts suspend"
    kind = DecisionKind.SUSPEND


class RestoreAccount(DecisionCommand):
    """Ends all restrictions of an account: suspended, frozen, limited. Needs --account and
    --reason.

    **When**: an account is suspended, frozen or limited and should not be. All restrictions end at
    once, and its posts are shown again at their old places. Its tokens end, so its clients must
    sign in again. An account whose purge has begun cannot be restored. **Costs**: as
    `accounts suspend`, and five statements for each token that ends.

    ```
    $ manage.py accounts restore --account 44 --reason "appeal by mail, ticket 812"
    account 44: restore
    1 accounts done, 1 changed, 0 failed
    ```
    """

    name = "accounts restore"
    kind = DecisionKind.RESTORE


class PurgeAccounts(JobCommand):
    """Deletes the data of all accounts suspended for more than SUSPENSION_DAYS. With --account and
    --yes: of one suspended account at once. It cannot be undone.

    **When**: it runs automatically, in [time slices](index.md#what-all-commands-share). Run it by
    hand if that is too slow, or with `--account`. It deletes the data of accounts that were
    suspended for more than `SUSPENSION_DAYS`: posts, reposts, favourites, bookmarks, mutes, lists,
    follows and blocks in both directions, markers, the text of the profile, the e-mail address.
    Name and id stay taken; reports and decisions stay. With `--account` and `--yes` it purges one
    suspended account at once. `--dry-run` names every row. It cannot be undone. **Costs**: one
    transaction for each post, mark and edge (five statements, ten for an edge). The drain updates
    counts, caches and timelines. An account with a million followers takes hours: `--rate` keeps
    the change table short. **Stopping it**: Ctrl-C or `kill -9`. An account whose purge has begun
    cannot be restored, and the next run continues with it. `--resume` skips finished accounts.

    ```
    $ manage.py accounts purge --rate 200
    posts_post 44/35012736
    posts_viewermark 44/34990704/12/3
    edge 47 → 44: FOLLOW
    account 44
    4 rows done, 4 changed, 0 failed
    ```
    """

    name = "accounts purge"
    unit = "rows"
    flags = WALK

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="with --account: purge at once")

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        now = datetime.now(UTC)
        before = now - timedelta(days=settings.SUSPENSION_DAYS)
        if work.account_id is not None:
            self._check(work.account_id, options["yes"] or work.dry_run)
            before = now
        return purge_accounts(work, before, DecisionOrigin(None, "accounts purge"), now)

    def _check(self, account_id: int, is_confirmed: bool) -> None:
        restrictions = load_restrictions([account_id]).get(account_id)
        if restrictions is None or restrictions.suspended_at is None:
            raise CommandError("this account is not suspended: run accounts suspend first")
        if Restriction.SUSPENDED in load_ends([account_id]).get(account_id, {}):
            raise CommandError(SuspensionEnds.text)
        if not is_confirmed:
            raise CommandError("this cannot be undone: --dry-run shows it, --yes does it")


class ExportAccount(JobCommand):
    """Writes the profile, posts, lists and marks of an account into a zip archive. Needs --account
    and --to.

    **When**: a person asks for their data. It writes a zip archive: the profile and private choices
    (`account.json`), all posts as Status entities (`posts.jsonl`, a line each), and CSV files of
    followed, quietly followed, specially followed, endorsed, following, blocked and muted accounts,
    lists, bookmarks, favourites and followed tags. `notices.jsonl` has the moderators' decisions,
    as AccountWarning entities with the appeals. The CSV files have Mastodon's columns, and accounts
    as `name@host`, so Mastodon can import them. Images are in the folder `images`, and `images.csv`
    names each with its description and its post; those that moderators hid are only in that list.
    The file appears when the archive is whole; an existing file is refused. Restore a suspended
    account first. Notifications are not in it, as in Mastodon. **Costs**: the pages of all the
    account's lists, 80 entries each, and one read of the store an image. **Stopping it**: Ctrl-C or
    `kill -9`; delete the file `FILE.part`, and run it again.

    ```
    $ manage.py accounts export --account 44 --to ann.zip
    account.json: 1 lines
    posts.jsonl: 1,204 lines
    …
    1,861 lines done, 1,861 changed, 0 failed
    ```
    """

    name = "accounts export"
    unit = "lines"
    flags = frozenset({JobFlag.ACCOUNT})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = "the archive to write; an existing file is refused"
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("accounts export needs --account")
        if options["to"].exists():
            raise CommandError(f"{options['to']} exists already")
        return export_account(work.account_id, options["to"])
