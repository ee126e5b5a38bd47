"""May the viewer see a post now? Pure: plain values in, verdicts out."""

from collections.abc import Mapping

from accounts.encode import is_limited
from relations.types import UNRELATED, Relationship


def may_see(
    viewer_id: int | None,
    people: Mapping[int, bytes],
    relationships: Mapping[int, Relationship],
) -> bool:
    """Neither who posted it nor who reposted it blocks the viewer, or is blocked by them; and
    whoever of them is limited is followed.

    `people`: their Account entities. `relationships`: of the viewer with others; empty for
    guests.
    """
    return all(
        _may_see_of(relationships.get(account_id, UNRELATED), account)
        for account_id, account in people.items()
        if account_id != viewer_id
    )


def _may_see_of(relationship: Relationship, account: bytes) -> bool:
    return not relationship.is_blocked and (relationship.is_followed or not is_limited(account))
