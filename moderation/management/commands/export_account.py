"""`manage.py export_account`: writes an account's data into an archive, for its owner.

**When**: a person asks for their data. It writes a zip archive: the profile and private choices
(`account.json`), all posts as Status entities (`posts.jsonl`, a line each), and CSV files of
followed, quietly followed, specially followed, endorsed, following, blocked and muted accounts,
lists, bookmarks, favourites and followed tags. `notices.jsonl` has the moderators' decisions, as
AccountWarning entities with the appeals. The CSV files have Mastodon's columns, and accounts as
`name@host`, so Mastodon can import them. Images are in the folder `images`, and `images.csv` names
each with its description and its post; those that moderators hid are only in that list. The file
appears when the archive is whole; an existing file is refused. Restore a suspended account first.
Notifications are not in it, as in Mastodon. **Costs**: the pages of all the account's lists, 80
entries each, and one read of the store an image. **Stopping it**: Ctrl-C or `kill -9`; delete the
file `FILE.part`, and run it again.

```
$ manage.py export_account --account 44 --to ann.zip
account.json: 1 lines
posts.jsonl: 1,204 lines
…
1,861 lines done, 1,861 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import JobFlag
from infra.jobs.types import Batch, Work
from moderation.jobs.export_account import export_account


class Command(JobCommand):
    help = (
        "Writes the profile, posts, lists and marks of an account into a zip archive."
        " Needs --account and --to."
    )
    unit = "lines"
    flags = frozenset({JobFlag.ACCOUNT})

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        text = "the archive to write; an existing file is refused"
        parser.add_argument("--to", type=Path, required=True, metavar="FILE", help=text)

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("export_account needs --account")
        if options["to"].exists():
            raise CommandError(f"{options['to']} exists already")
        return export_account(work.account_id, options["to"])
