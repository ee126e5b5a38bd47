"""Graph files once more, read the shortest way, and the posts as the tables have them.

Deliberately not the code under test: what the oracle is fed must not share its mistakes.
"""

import gzip
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg

from tests.oracle import Oracle

FOLLOW_CAP = 2_000
FIRST_FOLLOW_MS = (
    1_767_225_600_000  # 2026-01-01; as docs/reference/commands/index.md has it, under load_graph
)
MINUTE_MS = 60_000

Lists = dict[int, list[int]]


def read_lists(path: Path) -> Lists:
    """Followees by follower, in the file's order, without repeats, within the cap."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    pairs = _nostr_pairs(text) if text.lstrip().startswith("{") else _edge_pairs(text)
    lists: Lists = {}
    for follower, followee in pairs:
        if follower != followee:
            lists.setdefault(follower, []).append(followee)
    return {follower: list(dict.fromkeys(all_))[:FOLLOW_CAP] for follower, all_ in lists.items()}


def _nostr_pairs(text: str) -> list[tuple[int, int]]:
    return [(entry[0], to) for entry in json.loads(text)["followLists"] for to in entry[1]]


def _edge_pairs(text: str) -> list[tuple[int, int]]:
    lines = [line.split() for line in text.splitlines()]
    return [(int(f), int(t)) for f, t, *_ in (words for words in lines if words)]


def read_account_ids(default_url: str, graph: str) -> dict[int, int]:
    """Account id by node: usernames end in the node's number and the graph's name."""
    with psycopg.connect(default_url) as connection:
        rows = connection.execute("SELECT username, id FROM accounts_user").fetchall()
    named = re.compile(rf"[a-z]+(\d+)_{graph}")
    found = [(named.fullmatch(username), id_) for username, id_ in rows]
    return {int(match[1]): id_ for match, id_ in found if match}


def read_usernames(default_url: str, account_ids: Sequence[int]) -> list[str]:
    with psycopg.connect(default_url) as connection:
        query = "SELECT id, username FROM accounts_user WHERE id = ANY(%s::bigint[])"
        by_id = dict(connection.execute(query, (list(account_ids),)).fetchall())
    return [by_id[account_id] for account_id in account_ids]


def make_oracle(lists: Lists, ids: Mapping[int, int], shard_urls: Sequence[str]) -> Oracle:
    """The follows of the file; the posts from the tables that hold the truth."""
    oracle = Oracle()
    for follower, followees in lists.items():
        for position, followee in enumerate(followees):
            since_ms = FIRST_FOLLOW_MS + position * MINUTE_MS + follower % MINUTE_MS
            oracle.follow(ids[follower], ids[followee], since_ms)
    for url in shard_urls:
        with psycopg.connect(url) as connection:
            query = "SELECT author_id, moment FROM posts_post WHERE deleted_at IS NULL"
            for author, moment in connection.execute(query):
                oracle.publish(author, _public_id(author, moment))
    return oracle


def choose_readers(lists: Lists, count: int, seed: int) -> list[int]:
    """Who follows most, who is followed most, some who follow, and a quarter of just anybody."""
    follower_count: dict[int, int] = {}
    for followee in (followee for followees in lists.values() for followee in followees):
        follower_count[followee] = follower_count.get(followee, 0) + 1
    chance = random.Random(seed)
    keen = sorted(lists)
    everybody = sorted({*lists, *follower_count})
    chosen = [
        max(keen, key=lambda node: len(lists[node])),
        max(follower_count, key=lambda node: follower_count[node]),
        *chance.sample(keen, min(count * 3 // 4, len(keen))),
        *chance.sample(everybody, len(everybody)),
    ]
    return list(dict.fromkeys(chosen))[:count]


def _public_id(author: int, moment: int) -> str:
    """One number of second, author and sequence: 6, 6 and 2 base36 digits (docs, posts)."""
    second, sequence = divmod(moment, 36**2)
    return f"{second * 36**8 + author * 36**2 + sequence:015d}"
