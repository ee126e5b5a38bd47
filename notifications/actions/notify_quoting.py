"""Notifies the authors of posts that quote an edited post, a page of posts at a time."""

from collections.abc import Iterator, Sequence

from infra.changes.registry import FollowUp
from notifications.actions.notify import notify
from notifications.changes import QuotingLeft
from notifications.queries.muted import without_muted
from notifications.types import NotificationKind, Occurrence
from posts.ids import PostId
from posts.queries.quoting import QuotingPlace, list_quoting
from posts.queries.responses import revision_of
from posts.types import Kind

# One drain notifies of so many posts at once.
AT_ONCE = 500


def notify_next_quoting(author_id: int, left: QuotingLeft) -> list[FollowUp]:
    """Notifies of the next posts, and returns changes for those behind them, and for devices.

    A later edit notifies only those who were not notified of an earlier one. Safety: as
    `write_notifications`. Cost: one query, and `notify`.
    """
    place = QuotingPlace(left.of_kind, left.after, left.after_moment)
    quoting = list_quoting(PostId.at(author_id, left.moment), place, AT_ONCE)
    happened = list(_occurrences(author_id, quoting, left.edited_ms))
    follow_ups = [*notify(without_muted(happened, {i: i for i in quoting}))]
    if len(quoting) == AT_ONCE:
        last = quoting[-1].author_id, quoting[-1].moment
        more = QuotingLeft(left.moment, left.edited_ms, left.of_kind, *last)
        follow_ups.append(FollowUp(author_id, more))
    elif left.of_kind == Kind.QUOTE:
        more = QuotingLeft(left.moment, left.edited_ms, Kind.CLOSED_QUOTE.value)
        follow_ups.append(FollowUp(author_id, more))
    return follow_ups


def _occurrences(editor_id: int, quoting: Sequence[PostId], edited_ms: int) -> Iterator[Occurrence]:
    """Each is about the post of its recipient."""
    for post_id in quoting:
        about = (NotificationKind.QUOTED_UPDATE, post_id.moment, post_id.author_id)
        revision = revision_of(post_id, is_live=True)
        yield Occurrence(post_id.author_id, editor_id, *about, edited_ms, revision, True)
