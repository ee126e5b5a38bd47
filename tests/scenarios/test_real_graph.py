"""The main job, whole and real, on the small graph that is shipped with the code."""

import pytest

from demo.community import FILE
from tests.scenarios.real_graph import run


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_home_pages_of_a_real_graph_equal_the_oracle():
    report = run(FILE, posts=600, readers=24)
    assert report.faults == []
    assert report.sizes["home entries"] > 1_000
