"""`manage.py suspend_account`: suspends an account; restore_account undoes it.

**When**: an account must be suspended at once and the admin is not at hand, or in a script.
`--account` names the account, `--reason` the reason, which the account can read after it is
restored. Nothing is deleted ([effects](../../explanation/moderation.md)):
[`restore_account`](#restore_account) undoes it within `SUSPENSION_DAYS`. **Costs**: five
statements; three on the account's shard. While the shard is away, the account's clients are refused
already; the drain hides the account when the shard is back.

```
$ manage.py suspend_account --account 44 --reason "sells followers"
account 44: suspend
1 accounts done, 1 changed, 0 failed
```
"""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    kind = DecisionKind.SUSPEND
    help = (
        "Suspends an account: its user cannot sign in, and its profile and posts are hidden from"
        " all accounts. Reversible for SUSPENSION_DAYS. Needs --account and --reason."
    )
