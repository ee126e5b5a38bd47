"""Writes the reactions of another system, with their dates."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from accounts.errors import AccountNotFound
from accounts.identities.queries import AccountDirectory
from infra.declarations import TooManyDeclared
from infra.importing.job import NumberedRecord, WrittenBatch
from infra.importing.types import ReactionRecord
from infra.languages import ENGLISH
from infra.sharding.buckets import shard_of
from infra.sharding.scatter import scatter
from posts.actions.declare_reaction import declare_reaction
from posts.actions.mark_post import mark_post
from posts.errors import UnknownReaction
from posts.external.queries.posts import KnownPost, load_known_posts, load_originals
from posts.ids import PostId
from posts.queries.reactions import REACTION_NAME, get_reaction_kind
from posts.queries.responses import read_mark_responses
from posts.types import Kind, Visibility

Numbered = NumberedRecord[ReactionRecord]
Mark = tuple[int, int, int, int]
# The kind of a reaction that a dry run does not declare. No mark has it.
NEW = Kind.POST


class _PlacedMark(NamedTuple):
    """A reaction to write, and the number of its line."""

    number: int
    owner_id: int
    post_id: PostId
    kind: Kind
    at_s: float

    @property
    def key(self) -> Mark:
        return self.owner_id, self.post_id.moment, self.post_id.author_id, int(self.kind)


class ReactionImporter:
    """Writes reactions in the order of their lines."""

    def __init__(self) -> None:
        self._accounts = AccountDirectory()

    def write(self, records: Sequence[Numbered], now_ms: int, dry_run: bool) -> WrittenBatch:
        """A reaction without a time is as old as its post.

        Safety: idempotent; one that was taken back here stays so. Cost: one query for accounts that
        were not seen, two on each shard, and as `mark_post` for each new reaction.
        """
        ids = self._accounts.load(record.account for _, record in records)
        posts = _load_posts(record.post for _, record in records)
        kinds = {name: _find_kind(name, dry_run) for name in {r.reaction for _, r in records}}
        refused: dict[int, str] = {}
        placed = []
        for number, record in records:
            post, kind = posts.get(record.post), kinds[record.reaction]
            reason = _refusal(record, ids, post, now_ms)
            if reason or isinstance(kind, str):
                refused[number] = reason or str(kind)
            elif post is not None:
                at_s = record.at.timestamp() if record.at else post.post_id.posted_at_s
                mark = _PlacedMark(number, ids[record.account], post.post_id, kind, at_s)
                placed.append(mark)
        return _write(placed, refused, dry_run)


def _load_posts(external_ids: Iterable[str]) -> Mapping[str, KnownPost]:
    """Of a repost what it shows, as for a reaction that is made here."""
    known = load_known_posts(external_ids)
    originals = load_originals(known.values())
    shown = {
        key: originals.get(post.original) if post.original else post for key, post in known.items()
    }
    return {key: post for key, post in shown.items() if post is not None}


def _find_kind(name: str, dry_run: bool) -> Kind | str:
    """The kind of the reaction with this name, which is declared if it is not; or why not."""
    if not REACTION_NAME.fullmatch(name):
        return f"{name[:40]!r} is no name of a reaction: a-z, 0-9 and _, at most 32"
    try:
        return get_reaction_kind(name)
    except UnknownReaction:
        return NEW if dry_run else _declare(name)


def _declare(name: str) -> Kind | str:
    try:
        declare_reaction(name, {ENGLISH: name}, at_ms=0, notifies=False)
    except TooManyDeclared as error:
        return f"there is no reaction {name!r}: {error}"
    return get_reaction_kind(name)


def _refusal(
    record: ReactionRecord, ids: Mapping[str, int], post: KnownPost | None, now_ms: int
) -> str:
    if record.account not in ids:
        return f"there is no account {record.account!r}: import accounts first"
    if post is None or not post.is_live:
        return f"{record.post!r} is not here, or not any more"
    is_own = post.post_id.author_id == ids[record.account]
    if post.visibility > Visibility.UNLISTED and not is_own:
        return f"{record.post!r} is not public"
    if record.at is not None and record.at.timestamp() * 1_000 > now_ms:
        return "at is in the future"
    return ""


def _write(placed: Sequence[_PlacedMark], refused: dict[int, str], dry_run: bool) -> WrittenBatch:
    known = _load_known(placed)
    new = [mark for mark in placed if mark.key not in known]
    if dry_run:
        return WrittenBatch(len(new), refused)
    changed = 0
    for mark in new:
        try:
            changed += mark_post(
                mark.owner_id, mark.post_id, mark.kind, True, partial(float, mark.at_s)
            )
        except AccountNotFound:
            refused[mark.number] = "its account is not ready"
    return WrittenBatch(changed, refused)


def _load_known(placed: Sequence[_PlacedMark]) -> set[Mark]:
    """Those that are here, or were taken back here."""
    by_shard: dict[str, set[Mark]] = {}
    for mark in placed:
        by_shard.setdefault(shard_of(mark.owner_id), set()).add(mark.key)
    calls = {alias: partial(read_mark_responses, alias, marks) for alias, marks in by_shard.items()}
    return {
        (row.responder_id, row.moment, row.author_id, row.kind)
        for rows in scatter(calls).values()
        for row in rows
    }
