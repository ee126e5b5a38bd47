"""May the viewer see it? Plain values in, verdicts out."""

import pytest

from posts.ids import PostId
from timelines.rules import Facts, is_visible_at_home
from timelines.types import Entry

ME, FRIEND = 1, 2
MINE, THEIRS = PostId(5, ME, 0), PostId(6, FRIEND, 0)
ALL = {MINE: b"", THEIRS: b""}
BOTH = {ME: b"", FRIEND: b""}


@pytest.mark.parametrize(
    ("post", "facts", "verdict"),
    [
        (MINE, Facts(ME, ALL, BOTH, set()), True),
        (THEIRS, Facts(ME, ALL, BOTH, {FRIEND}), True),
        (THEIRS, Facts(ME, ALL, BOTH, set()), False),
        (THEIRS, Facts(ME, {MINE: b""}, BOTH, {FRIEND}), False),
        (THEIRS, Facts(ME, ALL, {ME: b""}, {FRIEND}), False),
        (MINE, Facts(ME, {THEIRS: b""}, BOTH, set()), False),
    ],
    ids=["own", "followed", "not followed", "deleted", "author gone", "own deleted"],
)
def test_verdicts(post: PostId, facts: Facts, verdict: bool) -> None:
    assert is_visible_at_home(Entry.of_post(post), facts) is verdict
