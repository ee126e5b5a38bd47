"""A post on its author's shard, for operators."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.urls import reverse

from counters.kinds import POST_KINDS
from counters.sql import select_counts
from infra.sharding.buckets import bucket_of, shard_of
from infra.sharding.probe import probe_all
from infra.sharding.sql import fetch_all
from moderation.models import Decision
from operations.queries.account import fact_of_decision
from operations.types import Fact, Section
from posts.ids import PostId
from posts.models import Post
from posts.types import STATUS, Kind

MAX_DECISIONS = 10
COUNTS = select_counts(owner="%s", subject="%s")


def read_post(post_id: PostId) -> list[Section]:
    """The parts of the id, the row, its counts, and moderators' decisions.

    Cost: one query on the default database, two on the author's shard.
    """
    alias = shard_of(post_id.author_id)
    answer = probe_all({alias: partial(_ask_shard, alias, post_id)})[alias]
    if answer.problem:
        shard = [Section(f"On {alias}", problem=answer.problem)]
    else:
        shard = [*_of_shard(alias, post_id, *answer.value)]
    return [_of_id(post_id), *shard, _of_moderation(post_id)]


def _ask_shard(alias: str, post_id: PostId) -> tuple[Post | None, dict[int, int]]:
    where = {"author_id": post_id.author_id, "moment": post_id.moment}
    row = Post.objects.on(alias).filter(**where).first()
    return row, dict(fetch_all(alias, COUNTS, (post_id.author_id, post_id.moment)))


def _of_id(post_id: PostId) -> Section:
    author = reverse("find_account", args=[post_id.author_id])
    facts = [
        Fact("Id", post_id.public),
        Fact("The same in base36", post_id.base36),
        Fact("Author", post_id.author_id, author),
        Fact("Posted", datetime.fromtimestamp(post_id.posted_at_s, UTC)),
        Fact("Moment on the shard", post_id.moment),
    ]
    return Section("The parts of the id", facts)


def _of_shard(
    alias: str, post_id: PostId, row: Post | None, counts: dict[int, int]
) -> Iterator[Section]:
    title = f"On {alias}, bucket {bucket_of(post_id.author_id)}"
    if row is None:
        yield Section(title, problem="There is no such post and no tombstone.")
        return
    yield Section(title, [*_of_row(row)])
    shown = [Fact(kind.name.lower(), counts.get(kind, 0)) for kind in POST_KINDS]
    yield Section("Counts on the shard", shown)


def _of_row(row: Any) -> Iterator[Fact]:
    yield Fact("State", _state_of(row))
    yield Fact("Kind", Kind(row.kind).name.lower())
    if row.target_author is not None:
        target = PostId.at(row.target_author, row.target_moment).public
        yield Fact("Target", target, reverse("find_post", args=[target]))
    yield Fact("Text", row.text)
    yield Fact("Content warning", row.spoiler_text)
    yield Fact("Sensitive", row.sensitive)
    yield Fact("Language", row.language or "")
    yield Fact("Type", row.post_type or STATUS)
    yield Fact("Custom", row.custom or "")
    yield Fact("Revision of hiding", row.hidden_revision)


def _state_of(row: Post) -> str:
    if row.deleted_at is not None:
        return f"deleted {row.deleted_at:%Y-%m-%d %H:%M:%S} UTC: the id and a tombstone remain"
    if row.hidden_at is not None:
        return f"hidden by moderators since {row.hidden_at:%Y-%m-%d %H:%M:%S} UTC"
    return "shown"


def _of_moderation(post_id: PostId) -> Section:
    decisions = Decision.objects.filter(post_id=post_id.base36).order_by("-id")[:MAX_DECISIONS]
    facts = [fact_of_decision(decision) for decision in decisions]
    return Section(f"The last {MAX_DECISIONS} decisions of moderators", facts or [Fact("None", "")])
