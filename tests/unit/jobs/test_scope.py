"""What tells runs apart, as text that PostgreSQL takes."""

from pathlib import Path

import pytest

from infra.jobs.flags import WALK, Flag
from infra.jobs.scope import parts_of, storable, told
from infra.jobs.types import Work


def test_only_what_was_given_is_told_in_one_order():
    defaults = {"shard": None, "kind": None, "repair": False, "file": None, "rate": None}
    options = defaults | {"repair": True, "kind": "posts.created", "rate": 5, "file": Path("a/b")}
    told_ = told(options, defaults, ["shard", "repair", "kind", "file"])
    assert told_ == "file=a/b kind=posts.created repair=yes"
    assert told(defaults, defaults, defaults) == ""


@pytest.mark.parametrize(
    ("text", "kept"), [("plain ö", "plain ö"), ("a\0b", "a\\0b"), ("\udc80", "\\udc80")]
)
def test_storable(text, kept):
    assert storable(text) == kept


def test_parts():
    shards = ["shard0", "shard1"]
    assert parts_of(Work(shards), WALK) == shards
    assert parts_of(Work(["shard1"]), {Flag.SHARD}) == ["shard1"]
    assert parts_of(Work(["shard1"], account_id=5), WALK) == ["account 5"]
    assert parts_of(Work(shards), {Flag.DRY_RUN}) == [""]
