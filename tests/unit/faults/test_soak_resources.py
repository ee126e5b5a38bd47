"""Growth of memory, files and connections in a soak, and the plot of it."""

from xml.etree import ElementTree

from faults.history.promises import Span
from faults.plot import plot
from faults.resources import ResourceSample, growths

RISING = [ResourceSample(n, {"web0 MB": 100.0 + n, "web0 files": 40.0}) for n in range(100)]
START = [ResourceSample(n, {"web0 MB": min(100.0, 10 * n)}) for n in range(100)]


def test_value_that_rises_to_the_end_is_not_flat():
    flat = {growth.name: growth.is_flat for growth in growths(RISING)}
    assert flat == {"web0 MB": False, "web0 files": True}


def test_value_that_rises_at_the_start_is_flat():
    assert [growth.is_flat for growth in growths(START)] == [True]


def test_nothing_measured_is_nothing_grown():
    assert growths([]) == []


def test_plot_is_an_svg_with_a_line_for_each_value_and_a_bar_for_each_fault():
    root = ElementTree.fromstring(plot(RISING, [Span(10, 20)]))
    name = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{name}polyline")) == 2
    assert [one.get("fill") for one in root.findall(f"{name}rect")].count("#f2d7d5") == 3
