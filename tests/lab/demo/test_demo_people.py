"""The shipped community is what its description promises.

Names and texts: always the same, always allowed, never the same name twice.
"""

import re
from pathlib import Path

import pytest

from accounts.models import DISPLAY_NAME_LENGTH, USERNAME_LENGTH
from lab.graph.excerpt import MOST, cut
from operations.demo.community import FIRST_ACCOUNTS, POSTS, demo_community
from operations.demo.errors import GraphNameInvalid
from operations.demo.formats import MAX_NODE
from operations.demo.graphs import build_graph
from operations.demo.names import name_of_file, naming_of
from operations.demo.publish import PlannedPosts
from operations.demo.scenes import read_scenes
from operations.demo.texts import SENTENCES, WORDS, made_up_text


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


def test_usernames_are_allowed_and_tell_the_node_and_the_graph():
    naming = naming_of("a2345678")
    for node in [0, 1, 17, MAX_NODE]:
        person = naming.person(node)
        assert re.fullmatch(r"[a-z]+" + f"{node}_a2345678", person.username)
        assert len(person.username) <= USERNAME_LENGTH
        assert 0 < len(person.display_name) <= DISPLAY_NAME_LENGTH
        assert person == naming_of("a2345678").person(node)


def test_names_look_different():
    names = {naming_of("g").person(node).display_name for node in range(1_000)}
    assert len(names) > 990


@pytest.mark.parametrize("name", ["", "nine_char", "ninechars", "Upper", "a b", "ä", "a_b", "x\n"])
def test_a_graph_name_is_short_and_plain(name):
    with pytest.raises(GraphNameInvalid):
        naming_of(name)


@pytest.mark.parametrize(
    ("file", "name"),
    [("nostr-social-graph.json.gz", "nostr"), ("socfb-Reed98.edges", "socfb"), ("___", "graph")],
)
def test_a_graph_is_called_as_its_file_begins(file, name):
    assert name_of_file(Path("/somewhere") / file) == name


def test_texts_are_short_repeatable_and_varied():
    texts = [made_up_text(str(seed)) for seed in range(2_000)]
    assert texts == [made_up_text(str(seed)) for seed in range(2_000)]
    assert max(map(len, texts)) < 200
    assert not any("{" in text for text in texts)
    assert len(set(texts)) > 1_000


def test_no_word_is_without_a_sentence():
    used = set(re.findall(r"\{(\w+)\}", " ".join(SENTENCES)))
    assert used == WORDS.keys()
