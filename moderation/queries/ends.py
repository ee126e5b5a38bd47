"""When restrictions of accounts end by themselves."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from accounts.types import Restriction
from moderation.models import TimedRestriction

Ends = Mapping[Restriction, datetime]


def load_ends(account_ids: Collection[int]) -> dict[int, Ends]:
    """By account, the end of each restriction that has one. One query by index."""
    ends: defaultdict[int, dict[Restriction, datetime]] = defaultdict(dict)
    rows = TimedRestriction.objects.filter(account_id__in=account_ids)
    for account_id, word, ends_at in rows.values_list("account_id", "restriction", "ends_at"):
        ends[account_id][Restriction(word)] = ends_at
    return {**ends}
