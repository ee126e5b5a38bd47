"""Notifies the author and the voters of polls that ended, a page of voters at a time."""

from collections.abc import Iterator, Mapping, Sequence

from infra.changes.registry import FollowUp
from notifications.actions.notify import notify
from notifications.changes import VotersLeft
from notifications.queries.muted import without_muted
from notifications.types import NotificationKind, Occurrence
from posts.ids import PostId
from posts.queries.voters import EndedPoll, list_voters, load_ended_polls

# One drain notifies so many voters of a poll at once.
AT_ONCE = 500
# Below all ids of accounts: nothing was announced yet.
BEGINNING = 0


def announce_ends(alias: str, ends: Mapping[PostId, int]) -> list[FollowUp]:
    """Notifies the voters above an id, of each of these polls of one shard.

    From the BEGINNING the author is notified too. Returns changes for the rest of the voters, and
    for devices. Safety: as `write_notifications`. Cost: one query, one for each poll, `notify` and
    `without_muted`.
    """
    happened: list[Occurrence] = []
    follow_ups: list[FollowUp] = []
    polls = load_ended_polls(alias, list(ends))
    for poll in polls:
        post_id, after = poll.post_id, ends[poll.post_id]
        voters = list_voters(post_id, after, AT_ONCE)
        first = [post_id.author_id] if after == BEGINNING else []
        happened += _occurrences(poll, [*first, *voters])
        if len(voters) == AT_ONCE:
            left = VotersLeft(post_id.moment, voters[-1])
            follow_ups.append(FollowUp(post_id.author_id, left))
    threads = {poll.post_id: poll.thread for poll in polls}
    return [*notify(without_muted(happened, threads)), *follow_ups]


def _occurrences(poll: EndedPoll, owner_ids: Sequence[int]) -> Iterator[Occurrence]:
    """A poll ends once, so all have the same revision."""
    author_id, moment = poll.post_id.author_id, poll.post_id.moment
    about = (author_id, NotificationKind.POLL, moment, author_id)
    for owner_id in owner_ids:
        yield Occurrence(owner_id, *about, poll.ended_at_s * 1000, 1, True)
