"""Accounts, posts and follow graphs that the workloads use."""

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth import get_user_model
from django.core.management import call_command

from accounts.actions.tokens import issue_token
from accounts.models import Account, Application
from infra.changes.compensate import drain
from infra.changes.lanes import all_lanes
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from operations.demo.community import FILE, FOLLOW_CAP
from operations.demo.graphs import Graph, read_graph
from operations.demo.load import load_community
from operations.demo.names import naming_of
from operations.demo.types import Community
from posts.actions.create_post import create_post
from posts.types import Draft
from relations.actions.follow import follow

TEXT = "A post as people write them: a sentence or two, some opinion, and a number at the end, "
SCOPES = "read write follow"


class Reader(NamedTuple):
    account_id: int
    token: str


class FollowGraph(NamedTuple):
    """Account ids, and the followees of each account when the graph was loaded."""

    ids: Sequence[int]
    following: Mapping[int, Sequence[int]]


def migrate() -> None:
    call_command("migrate_shards", verbosity=0)


def make_accounts(count: int) -> list[int]:
    prefix = f"b{secrets.token_hex(4)}"
    users = get_user_model().objects.bulk_create(
        get_user_model()(username=f"{prefix}_{n}", password="!") for n in range(count)
    )
    now = datetime.now(UTC)
    for user in users:
        account = Account(id=user.id, username=user.username, created_at=now)
        account.save(using=shard_of(user.id), force_insert=True)
    return [user.id for user in users]


def make_reader(followees: int, posts_each: int) -> Reader:
    """A reader with a full home timeline. A page of 20 entries has 20 authors."""
    reader_id, *authors = make_accounts(followees + 1)
    for author in authors:
        follow(reader_id, author)
    started = time.time() - 60 * followees * posts_each
    for turn in range(posts_each):
        for place, author in enumerate(authors):
            at = started + 60 * (turn * followees + place)
            create_post(author, Draft(f"{TEXT}{turn}"), clock_s=lambda at=at: at)
    drain_all()
    return Reader(reader_id, make_token(reader_id))


def load_follow_graph(path: Path | None) -> FollowGraph:
    """Loads the graph of a file; by default that of the demo community."""
    return write_follow_graph(read_graph(path or FILE, None, FOLLOW_CAP, None), "bench")


def write_follow_graph(graph: Graph, name: str) -> FollowGraph:
    """Writes the accounts and follows of a graph to the databases."""
    ids = load_accounts(graph, name)
    following = {ids[node]: [ids[f] for f in all_] for node, all_ in graph.following.items()}
    return FollowGraph([*ids.values()], following)


def load_accounts(graph: Graph, name: str) -> dict[int, int]:
    """Loads a graph's accounts and follows. Returns account ids by node."""
    loading = load_community(Community(graph, naming_of(name)), None)
    try:
        while True:
            next(loading)
    except StopIteration as end:
        ids: dict[int, int] = end.value
        return ids


def make_token(user_id: int) -> str:
    return make_tokens([user_id])[user_id]


def make_tokens(user_ids: Iterable[int]) -> dict[int, str]:
    """A token of each user, all for one application."""
    application = Application.objects.create(
        name="bench",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        scopes=SCOPES,
    )
    now = datetime.now(UTC)
    return {
        user_id: issue_token(user_id, application.id, SCOPES, now).token for user_id in user_ids
    }


def drain_all() -> int:
    """Delivers all pending changes. Returns their number."""
    delivered = 0
    while done := sum(
        drain(alias, lane).delivered for alias in all_aliases() for lane in all_lanes()
    ):
        delivered += done
    return delivered
