"""The shipped community is what its description promises."""

from operations.demo.community import FIRST_ACCOUNTS, POSTS, demo_community
from operations.demo.excerpt import MOST, cut
from operations.demo.graphs import build_graph
from operations.demo.publish import PlannedPosts
from operations.demo.scenes import read_scenes


def test_it_is_small_and_well_connected():
    community = demo_community()
    graph = community.graph
    assert (len(graph.nodes), graph.follow_count) == (400, 4_295)
    assert sum(graph.left_out) == 0
    assert sum(graph.follower_count(node) > 60 for node in graph.nodes) > 10
    assert [community.naming.person(n).username for n in range(3)] == list(FIRST_ACCOUNTS)


def test_the_first_accounts_follow_each_other_and_many_more():
    graph = demo_community().graph
    for node in range(len(FIRST_ACCOUNTS)):
        assert len(graph.following[node]) > 60
        assert graph.follower_count(node) > 50
        assert set(range(len(FIRST_ACCOUNTS))) - {node} <= set(graph.following[node])


def test_the_popular_publish_more():
    community = demo_community()
    graph = community.graph
    posts = PlannedPosts(community, {node: node for node in graph.nodes}, POSTS)
    drawn = [posts.author_id(number) for number in range(2_000)]
    assert drawn == [posts.author_id(number) for number in range(2_000)]
    reach = sum(map(graph.follower_count, drawn)) / len(drawn)
    assert reach > 2 * graph.follow_count / len(graph.nodes)
    assert min(map(graph.follower_count, drawn)) > 0
    assert len(set(drawn[: POSTS.total])) > 100


def test_an_excerpt_is_a_thinner_graph_numbered_from_the_best_connected():
    everybody = [(a, b) for a in range(100, 180) for b in range(100, 180) if a != b]
    text = cut(build_graph(everybody, 2_000, ""))
    assert text == cut(build_graph(everybody, 2_000, ""))
    pairs = [tuple(map(int, line.split())) for line in text.splitlines()]
    excerpt = build_graph(pairs, 2_000, "")
    assert sum(excerpt.left_out) == 0
    assert excerpt.nodes == list(range(80))
    assert len(excerpt.following[0]) == 79 < MOST
    assert len(excerpt.following[79]) == int(MOST / 80**0.5)


def test_the_script_is_in_the_order_of_time():
    """An author's ids only grow: a post that is written too early makes the next one late, and
    answers to that one older than it."""
    scenes = read_scenes()
    ages = [scene.minutes_ago for scene in scenes]
    assert ages == sorted(ages, reverse=True)
    names = [scene.name for scene in scenes]
    assert all(scene.answers in ("", *names[:at]) for at, scene in enumerate(scenes))
    assert "spam" not in names[-10:], "the first posts that a new person sees are others"
