"""The accounts, posts and tokens of the mix."""

import functools
import gc
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lab.bench.bulk_posts import BulkPost, spread_posts, write_posts
from lab.bench.mix.graph import MOST_FOLLOWEES, draw_graph
from lab.bench.world import FollowGraph, make_tokens, write_follow_graph
from operations.demo.graphs import read_graph

SEED = 1
READERS, AUTHORS = 600, 100
POSTS_EACH, DAYS, DAY_S = 6, 6, 86_400


class MixData(NamedTuple):
    """`followers`: how many, by account. `posts`: by author, oldest first.

    `readers` read and write, `authors` post and have most followers. Both have tokens.
    """

    graph: FollowGraph
    followers: Mapping[int, int]
    posts: Mapping[int, Sequence[BulkPost]]
    readers: Sequence[int]
    authors: Sequence[int]
    tokens: Mapping[int, str]


@functools.cache
def load_mix_data(path: Path | None, accounts: int) -> MixData:
    """Loads the graph of a file, by default a drawn one with so many accounts. Once a process."""
    drawn = read_graph(path, None, MOST_FOLLOWEES, None) if path else draw_graph(accounts, SEED)
    graph = write_follow_graph(drawn, "mix")
    followers = Counter(chain.from_iterable(graph.following.values()))
    following = [*graph.following]
    readers = random.Random(SEED).sample(following, min(READERS, len(following)))
    authors = [account_id for account_id, _ in followers.most_common(AUTHORS)]
    tokens = make_tokens({*readers, *authors})
    data = MixData(graph, followers, _make_posts(graph.ids), readers, authors, tokens)
    gc.freeze()  # else each collection in the client would visit all of it
    return data


def _make_posts(ids: Sequence[int]) -> Mapping[int, Sequence[BulkPost]]:
    """Over the days that the recent-posts index keeps, until now."""
    now = int(time.time())
    # Two rounds may give one author the same second.
    posts = [*dict.fromkeys(spread_posts(ids, POSTS_EACH, now - DAYS * DAY_S, now, SEED))]
    write_posts(posts)
    by_author: dict[int, list[BulkPost]] = {}
    for post in posts:
        by_author.setdefault(post.author, []).append(post)
    return by_author
