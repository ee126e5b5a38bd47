"""A maintenance job as an app would have it: walks the accounts and gives each a display name."""

from infra.changes.failpoints import failpoint
from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK
from infra.jobs.types import Batch
from infra.jobs.walk import Table, estimate_rows, walk_table
from infra.sharding.sql import execute

ACCOUNTS = Table("accounts_account", key=("id",), columns=("username", "display_name"))
RENAME = """
UPDATE accounts_account SET display_name = display_name || upper(username) WHERE id = ANY(%s)
"""


def rename(work):
    """Adds the name, so that a row that was done and is done again would show."""
    for alias, rows, position in walk_table(work, ACCOUNTS):
        wrong = [(id_, name) for id_, name, shown in rows if shown != name.upper()]
        details = [f"account {id_}: {name.upper()}" for id_, name in wrong]
        failpoint("renaming.rows_read")
        if not work.dry_run:
            execute(alias, RENAME, ([id_ for id_, _ in wrong],))
        failpoint("renaming.batch_committed")
        yield Batch(len(rows), 0, alias, len(wrong), position, details)


class Command(JobCommand):
    flags = WALK

    def count_total(self, work, options):
        return estimate_rows(work, ACCOUNTS)

    def iter_batches(self, work, options):
        return rename(work)
