"""`make test` tries the same examples every time, in each process."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

NUMBERS = [7_000_001 + n * 13 for n in range(40)]


@pytest.fixture
def load_constants(tmp_path: Path) -> Iterator[None]:
    """A module of the project's own with many constants."""
    path = tmp_path / "full_of_constants.py"
    path.write_text(f"NUMBERS = {NUMBERS}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    yield
    del sys.modules[path.stem]


def test_examples_are_the_same_after_other_modules_were_loaded(load_constants: None) -> None:
    drawn = []

    @settings(max_examples=200, database=None)
    @given(st.integers())
    def draw(number: int) -> None:
        drawn.append(number)

    draw()
    assert len(drawn) == 200
    assert not set(drawn) & set(NUMBERS)


def test_a_failure_is_reported_without_a_search_for_a_smaller_one() -> None:
    assert Phase.shrink not in settings.get_profile("same").phases
