"""What tells runs apart, as text that PostgreSQL takes."""

from pathlib import Path

import pytest

from infra.jobs.flags import WALK, JobFlag
from infra.jobs.run_scope import describe_options, list_lock_parts, make_storable
from infra.jobs.types import Work


def test_only_what_was_given_is_told_in_one_order():
    defaults = {"shard": None, "kind": None, "repair": False, "file": None, "rate": None}
    options = defaults | {"repair": True, "kind": "posts.created", "rate": 5, "file": Path("a/b")}
    told_ = describe_options(options, defaults, ["shard", "repair", "kind", "file"])
    assert told_ == "file=a/b kind=posts.created repair=yes"
    assert describe_options(defaults, defaults, defaults) == ""


@pytest.mark.parametrize(
    ("text", "kept"), [("plain ö", "plain ö"), ("a\0b", "a\\0b"), ("\udc80", "\\udc80")]
)
def test_storable(text, kept):
    assert make_storable(text) == kept


def test_parts():
    shards = ["shard0", "shard1"]
    assert list_lock_parts(Work(shards), WALK) == shards
    assert list_lock_parts(Work(["shard1"]), {JobFlag.SHARD}) == ["shard1"]
    assert list_lock_parts(Work(["shard1"], account_id=5), WALK) == ["account 5"]
    assert list_lock_parts(Work(shards), {JobFlag.DRY_RUN}) == [""]
