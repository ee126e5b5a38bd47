"""The main job, whole and real, on the small graph that is shipped with the code."""

import pytest

from operations.demo.community import FILE
from tests.scenarios.real_graph import run


@pytest.mark.slow
def test_home_pages_of_a_real_graph_equal_the_oracle():
    # Timelines shorter than most homes: their lower part is pulled from the posts tables.
    report = run(FILE, posts=600, readers=12, settings={"TIMELINE_ENTRIES": "40"})
    assert report.faults == []
    assert report.sizes["home entries"] > 12 * 80
