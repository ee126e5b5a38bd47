"""`manage.py reset_relations`: ends all edges of one account, in both directions.

**When**: an account must lose all its relations, for moderation or for a test. The command ends the
account's follows and blocks, and those that others have of it, edge by edge, as if each account had
done it itself. Mutes stay. `--keep-blocks` keeps blocks by other accounts. The command needs
`--yes`, or `--dry-run`, which names the edges. It cannot be undone, and the account may follow
again afterwards. **Costs**: five statements on the follower's shard for each edge, and five on the
followee's. An account with a million followers takes hours; choose the `--rate`. Without it, ended
edges are skipped.

```
$ manage.py reset_relations --account 44 --dry-run
edge 44 → 45: FOLLOW
edge 47 → 44: WHISPER
2 edges looked at, 2 would change, 0 failed
$ manage.py reset_relations --account 44 --yes
edge 44 → 45: FOLLOW
edge 47 → 44: WHISPER
2 edges done, 2 changed, 0 failed
```
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management import CommandError

from infra.jobs.command import JobCommand
from infra.jobs.flags import WALK, JobFlag
from infra.jobs.types import Batch, Work
from relations.jobs.reset_relations import reset_relations


class Command(JobCommand):
    help = (
        "Ends all follows and blocks of an account, and those that others have of it, as if each"
        " account had done it itself. Needs --account, and --yes unless it is a --dry-run."
    )
    unit = "edges"
    flags = WALK - {JobFlag.SHARD}

    def add_job_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="this cannot be undone")
        parser.add_argument(
            "--keep-blocks",
            action="store_true",
            help="keep the blocks by other accounts",
        )

    def iter_batches(self, work: Work, options: dict[str, Any]) -> Iterator[Batch]:
        if work.account_id is None:
            raise CommandError("--account is required: the account whose edges shall end")
        if not (options["yes"] or work.dry_run):
            raise CommandError("this cannot be undone: --dry-run shows it, --yes does it")
        return reset_relations(work, options["keep_blocks"])
