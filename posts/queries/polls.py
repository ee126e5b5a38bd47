"""Polls as one viewer sees them."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
import structlog

from infra.caching.questions import Question, RoundTrip
from infra.changes.errors import UNREACHABLE
from posts.cache.by_post import number_of
from posts.cache.polls import ask_polls, ask_votes, vote_number
from posts.errors import PollNotFound
from posts.ids import PostId

log = structlog.get_logger()

Poll = dict[str, Any]


def load_polls(ids: Collection[PostId], viewer_id: int | None, now_s: float) -> dict[PostId, Poll]:
    """Poll entities of the posts that have a poll. Only a viewer's say how the viewer voted.

    They do not say it either while a shard that is needed for it does not answer. Raises: errors of
    UNREACHABLE, if a poll itself is needed from such a shard. Cost: one round trip; what Redis
    lacks costs two queries a shard.
    """
    trip = RoundTrip()
    asked = trip.ask(ask_polls(ids))
    votes = trip.ask(ask_votes(ids, viewer_id)) if viewer_id is not None else None
    trip.run()
    texts = asked.value
    polls = {i: _present(i, texts[n], now_s) for i in ids if (n := number_of(i)) in texts}
    if viewer_id is None or votes is None or (own := _find_votes(votes)) is None:
        return polls
    editions = {i: orjson.loads(texts[number_of(i)]).get("edition", 0) for i in polls}
    return {i: _with_votes(i, p, viewer_id, editions[i], own) for i, p in polls.items()}


def get_poll(post_id: PostId, viewer_id: int | None, now_s: float) -> Poll:
    """The caller checks that the viewer may see the post. Raises: PollNotFound."""
    polls = load_polls([post_id], viewer_id, now_s)
    if not polls:
        raise PollNotFound
    return polls[post_id]


def _find_votes(votes: Question[dict[int, bytes]]) -> Mapping[int, bytes] | None:
    try:
        return votes.value
    except UNREACHABLE as error:
        log.warning("polls.votes_unknown", error=str(error))
        return None


def _present(post_id: PostId, text: bytes, now_s: float) -> Poll:
    poll = orjson.loads(text)
    is_over = poll["expires_at_s"] <= now_s
    is_shown = is_over or not poll["hide_totals"]
    expires_at = datetime.fromtimestamp(poll["expires_at_s"], UTC)
    return {
        "id": post_id.public,
        "expires_at": f"{expires_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "expired": is_over,
        "multiple": poll["multiple"],
        "votes_count": sum(count for _, count in poll["options"]),
        "voters_count": poll["voters"],
        "options": [
            {"title": title, "votes_count": count if is_shown else None}
            for title, count in poll["options"]
        ],
        "emojis": [],
    }


def _with_votes(
    post_id: PostId, poll: Poll, viewer_id: int, edition: int, votes: Mapping[int, bytes]
) -> Poll:
    """The author cannot vote. Clients show the results to accounts that have voted."""
    text = votes.get(vote_number(post_id, viewer_id))
    vote = orjson.loads(text) if text else {}
    own = vote["choices"] if vote.get("edition") == edition else []
    return poll | {"voted": bool(own) or viewer_id == post_id.author_id, "own_votes": own}
