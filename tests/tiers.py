"""Which tests `make test` runs, and which `make test-all`.

`make test` is what a contributor needs to trust a change: it runs in minutes. The others start
servers of their own, browsers or whole installations, or try many schedules. `--tier` chooses;
without it a run has all that it names.
"""

from enum import StrEnum

import pytest

# Folders of the second tier. `@pytest.mark.core` takes a test of theirs into the first.
SECOND = {"browser", "faults", "interleavings", "lab", "scenarios"}


class Tier(StrEnum):
    FIRST = "first"
    SECOND = "second"


def add_option(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=[*Tier], help="only the tests of one tier")


def tier_of(item: pytest.Item) -> Tier:
    """The second for what is slow, and for the twin on a Redis Cluster of a test."""
    if item.get_closest_marker("core"):
        return Tier.FIRST
    is_second = item.get_closest_marker("slow") or SECOND & {*item.path.parts} or _is_twin(item)
    return Tier.SECOND if is_second else Tier.FIRST


def _is_twin(item: pytest.Item) -> bool:
    kinds = item.get_closest_marker("redis")
    return kinds is not None and _kind_of(item) != kinds.args[0]


def _kind_of(item: pytest.Item) -> object:
    return item.callspec.params["redis_kind"]  # type: ignore[attr-defined]


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the items of the tier that was chosen."""
    chosen = config.getoption("tier")
    if chosen is not None:
        left_out = [item for item in items if tier_of(item) != chosen]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if tier_of(item) == chosen]
