"""`manage.py restore_account`: ends all restrictions of an account.

**When**: an account is suspended, frozen or limited and should not be. All restrictions end at
once, and its posts are shown again at their old places. Its tokens end, so its clients must sign in
again. An account whose purge has begun cannot be restored. **Costs**: as `suspend_account`, and
five statements for each token that ends.

```
$ manage.py restore_account --account 44 --reason "appeal by mail, ticket 812"
account 44: restore
1 accounts done, 1 changed, 0 failed
```
"""

from moderation.jobs.decide_account import DecisionCommand
from moderation.types import DecisionKind


class Command(DecisionCommand):
    kind = DecisionKind.RESTORE
    help = (
        "Ends all restrictions of an account: suspended, frozen, limited. Needs --account and"
        " --reason."
    )
