"""May the viewer see a post now? Pure: plain values in, verdicts out."""

from collections.abc import Mapping

from accounts.encode import is_limited
from relations.types import STRANGER, Standing


def may_see(
    viewer_id: int | None,
    people: Mapping[int, bytes],
    standings: Mapping[int, Standing],
) -> bool:
    """Neither who posted it nor who reposted it blocks the viewer, or is blocked by them; and
    whoever of them is limited is followed.

    `people`: their Account entities. `standings`: between the viewer and others; empty for who has
    not signed in.
    """
    return all(
        _may_see_of(standings.get(account_id, STRANGER), account)
        for account_id, account in people.items()
        if account_id != viewer_id
    )


def _may_see_of(standing: Standing, account: bytes) -> bool:
    return not standing.is_blocked and (standing.is_followed or not is_limited(account))
