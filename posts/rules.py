"""The rule that decides whether a viewer may see a post. Pure functions of plain values."""

from collections.abc import Mapping

from accounts.encode import is_limited
from relations.types import UNRELATED, Relationship


def may_see(
    viewer_id: int | None,
    authors: Mapping[int, bytes],
    relationships: Mapping[int, Relationship],
) -> bool:
    """Whether the viewer may see a post of these authors: of the post, and of its repost.

    The viewer and an author must not block each other, and the viewer must follow limited authors.

    `authors`: their Account entities. `relationships`: of the viewer with other accounts; empty
    without a viewer.
    """
    return all(
        _may_see_of(relationships.get(account_id, UNRELATED), account)
        for account_id, account in authors.items()
        if account_id != viewer_id
    )


def _may_see_of(relationship: Relationship, account: bytes) -> bool:
    return not relationship.is_blocked and (relationship.is_followed or not is_limited(account))
