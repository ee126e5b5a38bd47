"""Draws of `bench --only mix`: accounts by Zipf, kinds by their shares, the follow graph.

The script of `bench --only peers` counts what a side forgets and what it keeps too long.
"""

import itertools
import random
from collections import Counter, defaultdict
from itertools import islice

import pytest

from lab.bench.bulk_posts import BulkPost, spread_posts
from lab.bench.draws import Weighted, Zipf
from lab.bench.mix.data import MixData
from lab.bench.mix.graph import MOST_FOLLOWEES, draw_graph
from lab.bench.mix.requests import MixRequests, ReaderPlace
from lab.bench.mix.shares import PER_THOUSAND, READS, WRITES
from lab.bench.peers.script import FeedScript
from lab.bench.world import FollowGraph

DRAWS = 20_000
PEOPLE = range(1, 31)
DATA = MixData(
    graph=FollowGraph(PEOPLE, {}),
    followers={one: one for one in PEOPLE},
    posts={one: [BulkPost(one, 1_800_000_000)] for one in PEOPLE},
    readers=PEOPLE[:5],
    authors=PEOPLE[-3:],
    tokens={one: f"token-{one}" for one in PEOPLE},
)
PLACES = {one: ReaderPlace("77", "99") for one in DATA.readers}


def requests() -> MixRequests:
    return MixRequests(DATA, PLACES)


def test_zipf_weights_the_nth_by_its_rank():
    zipf = Zipf(range(100), 0.8, random.Random(1))
    counts = [count for _, count in Counter(zipf.draw_many(DRAWS)).most_common()]
    total = sum(n**-0.8 for n in range(1, 101))
    for rank in (1, 2, 5):
        assert counts[rank - 1] / DRAWS == pytest.approx(rank**-0.8 / total, rel=0.1)


def test_zipf_does_not_prefer_the_first_ids():
    first = {Zipf(range(100), 3.0, random.Random(seed)).draw() for seed in range(20)}
    assert len(first) > 10


def test_weighted_draws_in_proportion():
    counts = Counter(Weighted("abc", (5, 0, 15), random.Random(1)).draw_many(DRAWS))
    assert counts["a"] / DRAWS == pytest.approx(0.25, abs=0.02)
    assert "b" not in counts


def test_shares_are_those_of_a_thousand():
    assert sum(PER_THOUSAND.values()) == 1_000
    assert sum(WRITES.values()) == PER_THOUSAND["write"]
    assert {*READS} == {*PER_THOUSAND} - {"write"}


def test_kinds_come_by_their_shares():
    counts = Counter(one.kind for one in islice(requests(), DRAWS))
    for kind, share in PER_THOUSAND.items():
        assert counts[kind] / DRAWS == pytest.approx(share / 1_000, abs=0.01)


@pytest.mark.parametrize("kind", READS)
def test_read_is_a_get_with_the_token_of_a_reader(kind: str):
    request = requests().of(kind)
    line, *headers = request.request.decode().split("\r\n")
    assert request.kind == kind
    assert line.startswith("GET /api/v1/")
    assert headers[1].removeprefix("Authorization: Bearer token-") in map(str, DATA.readers)


def test_paths_have_the_places_of_the_reader():
    assert b"/timelines/home?max_id=77 " in requests().of("next_page").request
    assert b"/timelines/home/news?since_id=99 " in requests().of("news").request


def test_relationships_are_of_twenty_accounts():
    line = requests().of("relationships").request.partition(b" HTTP")[0]
    ids = line.partition(b"?")[2].split(b"&")
    assert len(set(ids)) == len(ids) == 20


def test_authors_are_drawn_by_their_followers():
    mix = requests()
    counts = Counter(mix.of("profile").request.split(b" ")[1] for _ in range(DRAWS))
    shares = [counts[f"/api/v1/accounts/{one}".encode()] / DRAWS for one in (10, 30)]
    assert shares == pytest.approx([10 / 465, 30 / 465], abs=0.01)


def test_writes_are_posts_favourites_and_follows():
    mix, paths = requests(), Counter[str]()
    for _ in range(DRAWS):
        method, path, _ = mix.of("write").request.decode().split(" ", 2)
        assert method == "POST"
        paths[path.rpartition("/")[2]] += 1
    shares = [paths[name] / DRAWS for name in ("statuses", "favourite")]
    assert shares == pytest.approx([0.5, 0.25], abs=0.02)
    assert {*paths} == {"statuses", "favourite", "follow", "unfollow"}


def test_no_account_follows_itself():
    mix = requests()
    for _ in range(2_000):
        text = mix.of("write").request.decode()
        path, token = text.split(" ")[1], text.partition("token-")[2].partition("\r")[0]
        assert path != f"/api/v1/accounts/{token}/follow"


def test_graph_has_every_account_and_the_same_follows_each_time():
    graph = draw_graph(1_000, seed=3)
    assert graph.nodes == [*range(1, 1_001)]
    assert draw_graph(1_000, seed=3).following == graph.following
    assert draw_graph(1_000, seed=4).following != graph.following


def test_number_of_followees_does_not_grow_with_the_graph():
    means = [draw_graph(count, 1).follow_count / count for count in (1_000, 10_000)]
    assert means == pytest.approx([19, 19], rel=0.15)
    assert max(map(len, draw_graph(10_000, 1).following.values())) <= MOST_FOLLOWEES


def test_followers_are_distributed_unevenly():
    graph = draw_graph(5_000, 1)
    counts = sorted(map(graph.follower_count, graph.nodes), reverse=True)
    assert counts[0] > 50 * counts[2_500] > 0


def test_posts_are_spread_evenly_and_each_round_has_all_authors():
    posts = [*spread_posts(PEOPLE, 2, 1_000, 1_600, seed=1)]
    assert [post.second for post in posts] == [1_000 + 10 * n for n in range(60)]
    rounds = [[post.author for post in posts[start : start + 30]] for start in (0, 30)]
    assert [sorted(one) for one in rounds] == [[*PEOPLE]] * 2
    assert rounds[0] != rounds[1]


STAGE = (1, 2, 3)
CROWD = range(10, 20)


class Plain:
    """A side that is always right; those below it each have one fault."""

    def __init__(self):
        self.follows = defaultdict(set)
        self.posts = {}
        self.numbers = itertools.count()

    def call(self, name, *arguments):
        return getattr(self, name)(*arguments)

    def homes(self, readers, limit):
        return [self.home(reader)[:limit] for reader in readers]

    def home(self, reader):
        return sorted(
            (p for p, by in self.posts.items() if by in self.follows[reader]), reverse=True
        )

    def follow(self, readers, author):
        for reader in readers:
            self.follows[reader].add(author)

    def unfollow(self, readers, author):
        for reader in readers:
            self.follows[reader].discard(author)

    def post(self, author, text, second):
        post = next(self.numbers)
        self.posts[post] = author
        return post

    def delete(self, post):
        del self.posts[post]

    def post_and_kill(self, author, text, second):
        return {"post": self.post(author, text, second), "had": 1}


class Deaf(Plain):
    def unfollow(self, readers, author):
        pass


class Lossy(Plain):
    lost = None

    def post_and_kill(self, author, text, second):
        self.lost = self.post(author, text, second)
        return {"post": self.lost, "had": 1}

    def home(self, reader):
        return [post for post in super().home(reader) if post != self.lost or reader == CROWD[0]]


class Repeating(Plain):
    def home(self, reader):
        home = super().home(reader)
        return home[:1] + home


class Late(Plain):
    def post_and_kill(self, author, text, second):
        return super().post_and_kill(author, text, second) | {"had": len(CROWD)}


def run(side, can_be_killed=True):
    return FeedScript(side, STAGE, CROWD, can_be_killed).run()


@pytest.mark.parametrize("can_be_killed", [True, False])
def test_a_side_that_is_right_has_nothing_wrong(can_be_killed):
    found = run(Plain(), can_be_killed)
    assert len(found) == 6
    assert not any(wrong["missing"] or wrong["ghosts"] for wrong in found.values())


def test_what_stays_after_an_unfollow_is_a_ghost():
    found = run(Deaf())
    assert found["delete"] == {"missing": 0, "ghosts": 0}
    # Of the friend's posts 13 and 12 are among the newest 40: two were deleted.
    assert found["unfollow"]["ghosts"] == len(CROWD) // 2 * 25


def test_what_a_kill_cost_is_missing():
    lost = {"missing": len(CROWD) - 1, "ghosts": 0, "had_it_when_killed": 1}
    assert run(Lossy())["kill -9"] == lost


def test_repeated_entry_is_a_ghost():
    assert run(Repeating())["follow"] == {"missing": 0, "ghosts": len(CROWD)}


def test_a_kill_that_came_too_late_every_time_is_said():
    with pytest.raises(AssertionError, match="too late"):
        run(Late())
