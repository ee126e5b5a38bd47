"""Changes of one post are filed in their order, also when one of them is tried again.

A reader of the feed would otherwise get a post after its deletion. The changes of other posts of
the account do not wait. Rows that come later are held back by TAKE.
"""

from collections.abc import Sequence

import msgspec

from infra.changes.deliver import ChangeRow, Failure, Outcome
from infra.changes.errors import EarlierFailed
from infra.telemetry.reached_branches import reached


class _AboutPost(msgspec.Struct):
    """The part of a payload that names a post of the owner, if it is about one."""

    moment: int | None = None


def hold_later_back(rows: Sequence[ChangeRow], outcome: Outcome) -> Outcome:
    """With the rows as failures, too, of whose post an earlier change failed. They wait, and their
    consumers run again with them."""
    if not outcome.failures:
        return outcome
    failed = {failure.row.id for failure in outcome.failures}
    posts, held = set[tuple[int, int, int]](), list[Failure]()
    for row in rows:
        post = _post_of(row)
        if row.id in failed and post is not None:
            posts.add(post)
        elif post in posts:
            reached("drain.row_waits_for_earlier")
            held.append(Failure(row, EarlierFailed("an earlier change of its post comes first")))
    return outcome._replace(failures=[*outcome.failures, *held])


def _post_of(row: ChangeRow) -> tuple[int, int, int] | None:
    """Lane, owner and moment; None: the change is about no post, or cannot be read."""
    try:
        moment = msgspec.json.decode(row.payload, type=_AboutPost).moment
    except msgspec.MsgspecError:
        return None
    return None if moment is None else (row.lane, row.owner_id, moment)
