"""Readers who have nothing in common, in a group for each kind of read."""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from lab.bench.bulk_posts import BulkPost, spread_posts, write_posts
from lab.bench.world import FollowGraph, drain_all, make_tokens, write_follow_graph
from operations.demo.graphs import build_graph
from posts.actions.repost import repost

FOLLOWEES, POSTS_EACH, REPOSTS = 15, 2, 3
FOLLOWERS = 20  # of the account whose followers are read
DAYS, DAY_S = 6, 86_400
SEED = 1


class Stranger(NamedTuple):
    """A reader, and authors that no other account reads.

    `known`: an account with FOLLOWERS followers. `post`: one that this reader has not seen.
    """

    account_id: int
    token: str
    authors: Sequence[int]
    known: int
    post: BulkPost


def load_strangers(name: str, groups: Sequence[str], each: int) -> dict[str, list[Stranger]]:
    """`each` readers by group, in a graph of this name.

    A page of 20 has 15 authors and three reposts. The first group of the list is one for reads that
    warm up the process.
    """
    count = len(groups) * each
    graph = write_follow_graph(build_graph(_draw_follows(count), FOLLOWEES, "strangers"), name)
    readers = graph.ids[:count]
    posts = _write_posts(graph, readers)
    tokens = make_tokens(readers)
    strangers = [_stranger(graph, posts, tokens, reader) for reader in readers]
    return {group: strangers[n * each :][:each] for n, group in enumerate(groups)}


def _draw_follows(readers: int) -> Iterator[tuple[int, int]]:
    """Nodes in this order: readers, their authors, and the followers of the first author."""
    for reader in range(readers):
        first = readers + reader * (FOLLOWEES + FOLLOWERS)
        for author in range(first, first + FOLLOWEES):
            yield reader, author
        for follower in range(first + FOLLOWEES, first + FOLLOWEES + FOLLOWERS - 1):
            yield follower, first


def _write_posts(graph: FollowGraph, readers: Sequence[int]) -> Mapping[int, Sequence[BulkPost]]:
    """By author, oldest first, until an hour ago; after that the reposts."""
    end = int(time.time()) - 3_600
    authors = [*chain.from_iterable(graph.following[reader] for reader in readers)]
    posts = [*spread_posts(authors, POSTS_EACH, end - DAYS * DAY_S, end, SEED)]
    write_posts(posts)
    by_author: dict[int, list[BulkPost]] = {}
    for post in posts:
        by_author.setdefault(post.author, []).append(post)
    dice = random.Random(SEED)
    for reader in readers:
        _repost(dice.sample(graph.following[reader], 2 * REPOSTS), by_author, end)
    drain_all()
    return by_author


def _repost(authors: Sequence[int], posts: Mapping[int, Sequence[BulkPost]], at_s: int) -> None:
    """Each author of the first half reposts the newest post of one of the second half."""
    for number in range(REPOSTS):
        original = posts[authors[REPOSTS + number]][-1].id
        repost(authors[number], original, clock_s=lambda: at_s + 60.0)


def _stranger(
    graph: FollowGraph,
    posts: Mapping[int, Sequence[BulkPost]],
    tokens: Mapping[int, str],
    reader: int,
) -> Stranger:
    authors = graph.following[reader]
    return Stranger(reader, tokens[reader], authors, authors[0], posts[authors[-1]][0])
