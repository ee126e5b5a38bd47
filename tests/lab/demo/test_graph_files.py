"""Graph files: both formats, packed or not, and what is said about broken ones."""

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.demo.errors import GraphUnreadable
from operations.demo.formats import digest_of
from operations.demo.graphs import best_connected, build_graph, read_graph, since_ms

EDGES = b"# a comment\n1 2\n\n1\t3  0.5\n% another\r\n2 1\r\n"
NOSTR = {
    "followLists": [[1, [2, 3], 1752792945], [2, [1]]],
    "muteLists": [[3, [1], 5]],
    "uniqueIds": [["k1", 1], ["k2", 2]],
}


def write(folder: Path, content: bytes, packed: bool = False) -> Path:
    path = folder / "graph"
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def read(path: Path, format_name: str | None = None, cap: int = 2_000, limit: int | None = None):
    return read_graph(path, format_name, cap, limit)


def following(graph) -> dict[int, list[int]]:
    return {node: list(followees) for node, followees in graph.following.items()}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content", [EDGES, json.dumps(NOSTR).encode()])
def test_both_formats_are_recognised_packed_or_not(tmp_path, content, packed):
    graph = read(write(tmp_path, content, packed))
    assert following(graph) == {1: [2, 3], 2: [1]}
    assert graph.nodes == [1, 2, 3]
    assert graph.follow_count == 3
    assert [graph.follower_count(node) for node in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_the_way_back_knows_the_place_of_each_follow(tmp_path):
    graph = read(write(tmp_path, b"7 1\n7 2\n8 2\n"))
    assert list(graph.iter_followers(2)) == [(7, 1), (8, 0)]
    assert [f.since_ms for f in graph.iter_followers(2)] == [since_ms(7, 1), since_ms(8, 0)]
    assert list(graph.iter_followers(7)) == []


def test_follows_are_dated_as_documented():
    assert since_ms(follower=60_007, position=2) == 1_767_225_600_000 + 120_000 + 7


def test_what_must_not_be_in_a_graph_is_left_out_and_counted(tmp_path):
    graph = read(write(tmp_path, b"1 1\n1 2\n1 2\n1 3\n1 4\n5 5\n"), cap=2)
    assert following(graph) == {1: [2, 3]}
    assert graph.left_out == (2, 1, 1)
    assert graph.nodes == [1, 2, 3]


def test_a_limit_keeps_the_best_connected_and_the_follows_between_them(tmp_path):
    graph = read(write(tmp_path, b"1 2\n1 3\n2 1\n4 1\n4 3\n5 9\n"), limit=3)
    # 1 has four follows given and received, 2, 3 and 4 have two each: ties by the smaller id.
    assert following(graph) == {1: [2, 3], 2: [1]}


def test_the_digest_is_of_the_content_not_of_the_packing(tmp_path):
    assert digest_of(write(tmp_path, EDGES)) == digest_of(write(tmp_path, EDGES, packed=True))
    assert digest_of(write(tmp_path, EDGES)) != digest_of(write(tmp_path, EDGES + b"8 9\n"))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"1 2\n3\n", 2),
        (b"1 2\n\nx 4\n", 3),
        (b"-1 2\n", 1),
        (b"1 1000000000000\n", 1),
        (b"1 9999999999999999999999999\n", 1),
        (b"1.5 2\n", 1),
        (b"1,2\n", 1),
        (b"1 2\n3 \xff\xfe\n", 2),
        ("1 \u0664\n".encode(), 1),
        (b"1 2\n" + b"9" * 1_000_000 + b" 1\n", 2),
        (b"1 2\n\x00\x00\x00 1\n", 2),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, line):
    path = write(tmp_path, content)
    with pytest.raises(GraphUnreadable, match=f"graph, line {line}: ") as raised:
        read(path)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b'{"followLists": [[1, [2]], [3, ["x"]]]}', "followLists[1]"),
        (b'{"followLists": [[1, [2]], [3]]}', "followLists[1]"),
        (b'{"followLists": [[1, [-2]]]}', "followLists[0]"),
        (b'{"followLists": {}}', "followLists"),
        (b'{"muteLists": []}', "followLists"),
        (b'{"followLists": [[1, [2', "graph"),
        (b'{"followLists": [[1, [2]]]} x', "graph"),
        (b'{"followLists": [], "uniqueIds": [["\xff", 1]]}', "graph"),
    ],
)
def test_a_bad_list_is_named(tmp_path, content, where):
    with pytest.raises(GraphUnreadable) as raised:
        read(write(tmp_path, content))
    assert where in str(raised.value)


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"# only words\n", b'{"followLists": []}', b"1 1"]
)
def test_a_file_without_follows_is_refused(tmp_path, content):
    with pytest.raises(GraphUnreadable, match="no follows found"):
        read(write(tmp_path, content))


def test_a_damaged_archive_is_refused(tmp_path):
    path = write(tmp_path, os.urandom(10_000), packed=True)
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:12], whole[:50] + bytes(500) + whole[550:]):
        path.write_bytes(damaged)
        with pytest.raises(GraphUnreadable, match="gzip"):
            digest_of(path)


def test_what_cannot_be_opened_is_refused(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(GraphUnreadable, match=path.name[:40]):
            read(path)


def test_the_wrong_format_is_refused(tmp_path):
    with pytest.raises(GraphUnreadable, match="line 1"):
        read(write(tmp_path, json.dumps(NOSTR).encode()), "edges")
    with pytest.raises(GraphUnreadable):
        read(write(tmp_path, EDGES), "nostr")


nodes = st.integers(0, 12)


@given(st.lists(st.tuples(nodes, nodes)), st.integers(1, 5))
def test_a_graph_is_the_pairs_without_what_is_left_out(pairs, cap):
    graph = build_graph(pairs, cap, "")
    expected: dict[int, list[int]] = {}
    for follower, followee in pairs:
        list_ = expected.setdefault(follower, [])
        if follower != followee and followee not in list_:
            list_.append(followee)
    assert following(graph) == {f: list_[:cap] for f, list_ in expected.items() if list_}
    back = {(f.node, f.position, node) for node in graph.nodes for f in graph.iter_followers(node)}
    assert back == {(f, n, t) for f, list_ in following(graph).items() for n, t in enumerate(list_)}
    assert sum(graph.left_out) + graph.follow_count == len(pairs)


@given(st.lists(st.tuples(nodes, nodes)), st.integers(1, 12))
def test_the_best_connected_are_as_many_as_asked_for(pairs, count):
    graph = build_graph(pairs, 100, "")
    chosen = best_connected(graph.following, count)
    assert len(chosen) == len(set(chosen)) == min(count, len(graph.nodes))
