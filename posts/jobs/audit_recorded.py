"""The pass of audit responses over responses: does their post or reaction say the same?

A source is written before its response, and its revision only grows. So a response that is newer
than its source, read later, is what is left of a write that the source's shard lost. A response
that is older is behind: its change is pending, or was lost.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from django.db import transaction

from accounts.errors import AccountNotFound
from accounts.sql import EXISTING_ACCOUNT_IDS
from counters.changes import CountsRepaired
from infra.changes.append import append_change
from infra.jobs.audit import AuditRun
from infra.jobs.findings import AuditFinding, compare_again
from infra.jobs.walk import Piece
from infra.sharding.buckets import shard_of
from infra.sharding.sql import fetch_all
from posts.actions.delete_post import delete_post
from posts.actions.end_lost_post import LostPost, end_lost_post
from posts.actions.mark_again import mark_again
from posts.actions.record_responses import by_shard, write_responses
from posts.actions.repost import undo_repost
from posts.actions.revoke_quote import revoke_quote
from posts.ids import PostId
from posts.queries.reactions import find_shown_name
from posts.queries.responses import (
    OPEN_KINDS,
    read_mark_responses,
    read_quote_states,
    read_responses,
    read_states,
    record_of,
)
from posts.types import REACTIONS, Kind, ResponseRow, Target

WORDS = {
    Kind.REPLY: "reply to",
    Kind.CLOSED_REPLY: "reply to",
    Kind.REPOST: "repost of",
    Kind.FAVOURITE: "favourite of",
    Kind.QUOTE: "quote of",
    Kind.CLOSED_QUOTE: "quote of",
}
QUOTES = (Kind.QUOTE, Kind.CLOSED_QUOTE)


def words_of(kind: int) -> str:
    """What a response is called in a finding, before the post. A declared reaction by its name, or
    by its number if the default database does not answer. Cost: as `find_shown_name`."""
    return WORDS.get(Kind(kind)) or f"reaction {find_shown_name(kind) or kind} to"


class ResponseSource(NamedTuple):
    """What the responder's shard has of a response now. `current` None: it has no row."""

    recorded: ResponseRow
    current: ResponseRow | None

    @property
    def is_behind(self) -> bool:
        """The source has a later revision."""
        return self.current is not None and self.current.revision > self.recorded.revision

    @property
    def is_ahead(self) -> bool:
        """The source lacks what the response says."""
        if self.current is None:
            return self.recorded.is_on or self.recorded.kind in REACTIONS
        return self.current.revision < self.recorded.revision


def judge_recorded(piece: Piece, run: AuditRun) -> Iterator[AuditFinding]:
    """Responses without a source, newer than their source, or behind it.

    The source is read after the response. `restored_wins`: lost reactions and deletions are undone
    on the side of the response too. Cost: two queries per shard of responders; the same again while
    changes are pending.
    """
    sources = _compare([ResponseRow(*row) for row in piece.rows])
    behind = [source.recorded for source in sources if source.is_behind]
    late = compare_again(behind, partial(_find_behind, piece.alias), run.pause)
    for source in sources:
        if source.is_ahead:
            yield _ahead(source, run.restored_wins)
    for source in _compare(late):
        if source.is_behind:
            yield _behind(source)


def _find_behind(alias: str, rows: Sequence[ResponseRow]) -> list[ResponseRow]:
    """Those that are behind as both sides are now."""
    now = read_responses(alias, [row.identity for row in rows])
    return [source.recorded for source in _compare([*now.values()]) if source.is_behind]


def _compare(rows: Sequence[ResponseRow]) -> list[ResponseSource]:
    """The responses of one shard that are not as their source."""
    groups: dict[str, list[ResponseRow]] = {}
    for row in rows:
        groups.setdefault(shard_of(row.responder_id), []).append(row)
    sources = [source for alias, group in groups.items() for source in _read_sources(alias, group)]
    return [source for source in sources if source.is_ahead or source.is_behind]


def _read_sources(alias: str, rows: Sequence[ResponseRow]) -> Iterator[ResponseSource]:
    marks = [row for row in rows if row.kind in REACTIONS]
    quotes = [row for row in rows if row.kind in QUOTES]
    posts = [row for row in rows if row.kind not in (*REACTIONS, *QUOTES)]
    keys = [(row.responder_id, row.moment, row.author_id, row.kind) for row in marks]
    marked = read_mark_responses(alias, keys) if keys else []
    current = {row.identity: row for row in marked}
    for row in _of_existing(alias, marks):
        yield ResponseSource(row, current.get(row.identity))
    for read, some in ((read_states, posts), (read_quote_states, quotes)):
        states = read(alias, [source_of(row) for row in some]) if some else {}
        for row in some:
            state = states.get(source_of(row))
            now = record_of(source_of(row), target_of(row), *state) if state else None
            yield ResponseSource(row, now)


def _of_existing(alias: str, marks: Sequence[ResponseRow]) -> Iterator[ResponseRow]:
    """Without reactions that ended, of accounts that do not exist."""
    ended = [row.responder_id for row in marks if not row.is_on]
    rows = fetch_all(alias, EXISTING_ACCOUNT_IDS, (ended,)) if ended else []
    existing = {row[0] for row in rows}
    return (row for row in marks if row.is_on or row.responder_id in existing)


def source_of(response: ResponseRow) -> PostId:
    """The reply or repost that the response is."""
    return PostId.at(response.responder_id, response.at)


def target_of(row: ResponseRow) -> Target:
    """The post that the reply, repost or quote is about, as that has it."""
    return Target(OPEN_KINDS.get(Kind(row.kind), row.kind), row.author_id, row.moment)


def _ahead(source: ResponseSource, restored_wins: bool) -> AuditFinding:
    row = source.recorded
    what = f"{words_of(row.kind)} {row.post_id.public}"
    line = f"account {row.responder_id}: "
    if row.kind in REACTIONS:
        lost = f"{what} was lost" if row.is_on else f"the end of its {what} was lost"
        return AuditFinding(line + lost, partial(_mark_again, row, restored_wins))
    if source.current is None:
        # No row tells whether all could see the reply: the kind of its response does.
        lost_post = _lost_post_of(row)
        text = f"post {source_of(row).public}, a {what}, was lost"
        return AuditFinding(line + text, partial(end_lost_post, lost_post))
    ended = "revocation or deletion" if row.kind in QUOTES else "deletion"
    text = f"post {source_of(row).public}, a {what}, is back: its {ended} was lost"
    if restored_wins:
        return AuditFinding(line + text)
    return AuditFinding(line + text, partial(_delete_again, row))


def _lost_post_of(row: ResponseRow) -> LostPost:
    if row.kind in QUOTES:
        return LostPost(source_of(row), quoted=row.post_id)
    return LostPost(source_of(row), Target(row.kind, row.author_id, row.moment))


def _mark_again(row: ResponseRow, restored_wins: bool) -> None:
    """A reaction of an account that does not exist ends."""
    try:
        mark_again(row, restored_wins)
    except AccountNotFound:
        record_again([row._replace(is_on=False, revision=row.revision + 1)])


def _delete_again(row: ResponseRow) -> None:
    if row.kind in QUOTES:
        # Which of the two was lost is not known. The post itself is ended by what else it left.
        revoke_quote(source_of(row), row.post_id)
    elif row.kind == Kind.REPOST:
        undo_repost(row.responder_id, row.post_id)
    else:
        delete_post(source_of(row))


def _behind(source: ResponseSource) -> AuditFinding:
    row = source.recorded
    line = f"account {row.author_id}: post {row.post_id.public}: "
    state = "counted" if row.is_on else "not counted"
    text = f"{words_of(row.kind)} it by {row.responder_id} is still {state}"
    return AuditFinding(
        line + text, partial(record_again, [source.current] if source.current else [])
    )


def record_again(responses: Sequence[ResponseRow]) -> None:
    """Records responses as their sources have them now. Safety: idempotent, in any order.

    Rows and change are one transaction on the shard of the posts: the change refreshes the caches
    of their counts, also after a crash.
    """
    for alias, group in by_shard(responses).items():
        with transaction.atomic(using=alias):
            write_responses(alias, group)
            for author_id, moment in sorted({response[:2] for response in group}):
                append_change(alias, author_id, CountsRepaired(moment))
