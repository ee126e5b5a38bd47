"""MGETs that follow each other are one command, and each gets its own values."""

import itertools

from hypothesis import given
from hypothesis import strategies as st
from redis.exceptions import ResponseError

from infra.caching.joined_reads import divide_replies, join_reads

keys = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)
commands = st.lists(
    st.builds(lambda name, found: (name, *found), st.sampled_from(["MGET", "GET"]), keys)
)


def answer(command):
    name, *found = command
    return [key.upper() for key in found] if name == "MGET" else found[0].upper()


@given(commands)
def test_the_replies_are_those_to_the_single_commands(asked):
    joined = join_reads(asked)
    assert divide_replies(asked, list(map(answer, joined))) == list(map(answer, asked))
    names = [name for name, *_ in joined]
    assert not any(a == b == "MGET" for a, b in itertools.pairwise(names))


def test_without_neighbours_the_commands_stay_as_they_are():
    asked = [("MGET", "a"), ("GET", "b"), ("MGET", "c")]
    assert join_reads(asked) is asked


def test_an_error_is_the_reply_to_all_of_them():
    error = ResponseError("no")
    asked = [("MGET", "a"), ("MGET", "b", "c"), ("GET", "d")]
    assert divide_replies(asked, [error, "D"]) == [error, error, "D"]
