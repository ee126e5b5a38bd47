"""A graph to load."""

from pathlib import Path

import pytest

from tests.lab.demo.communities import random_pairs, write_edges


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """Sixty people, each of whom follows somebody."""
    return write_edges(tmp_path / "town.edges", random_pairs(60, 400))
