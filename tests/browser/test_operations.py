"""The operations page as a browser draws it: six charts, which go on by themselves."""

import time

import pytest

from infra.sharding.shards import all_aliases
from operations.samples import DatabaseSample, _write
from tests.browser.hour import forget_minutes, lay_hour
from tests.browser.tab import DESKTOP, PHONE, Tab
from tests.people import make_boss

TITLES = (
    "Change lag: the oldest pending change (s)",
    "Changes delivered (/s)",
    "Cache hits by tier (%)",
    "Redis memory (MiB)",
    "Queries longer than a second",
    "Parked changes",
)
# Of each chart: pixels that have a colour, as lines have, and axes, words and grid have not.
COLOURED = """[...document.querySelectorAll(".ops-chart canvas")].map((canvas) => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, ink] = data.slice(at, at + 4);
    found += ink > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
  }
  return found;
})"""
SPREAD = """[...document.querySelectorAll(".ops-chart")].map((one) =>
  [one.clientWidth, one.querySelector("canvas").clientWidth, one.querySelector("canvas").height])"""


# Of each chart: how much of it is black, as what a canvas cannot read makes it.
BLACK = """[...document.querySelectorAll(".ops-chart canvas")].map((canvas) => {
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let black = 0;
  for (let at = 0; at < data.length; at += 4) {
    black += data[at] + data[at + 1] + data[at + 2] === 0 && data[at + 3] === 255;
  }
  return black / (data.length / 4);
})"""


def legend(chart: str) -> str:
    return f'.ops-chart[aria-label="{chart}"] .u-legend'


def open_charts(tab: Tab) -> None:
    tab.sign_in(make_boss())
    tab.open("/admin/operations/")
    tab.see("Refreshed at")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_six_charts_are_drawn(tab_of, size) -> None:
    lay_hour()
    tab = tab_of(size)
    open_charts(tab)
    for title in TITLES:
        tab.see(title)
    pixels = tab.run(COLOURED)
    assert len(pixels) == len(TITLES)
    assert min(pixels) > 100, pixels
    for box, drawn, height in tab.run(SPREAD):
        assert 200 < drawn <= box
        assert height >= 200
    tab.see("limit", "4 others", "local", "512 MiB")


def test_grid_and_shades_have_colours_of_the_admin(tab: Tab) -> None:
    lay_hour()
    forget_minutes(20, 30)
    open_charts(tab)
    assert max(tab.run(BLACK)) < 0.001
    with tab.dark():
        tab.open("/admin/operations/")
        tab.see("Refreshed at")
        assert max(tab.run(BLACK)) < 0.001


def test_charts_go_on_by_themselves(tab: Tab) -> None:
    lay_hour()
    open_charts(tab)
    parked = tab.find(legend("Parked changes"))
    tab.expect(parked).to_contain_text("shard0")
    tab.expect(parked).not_to_contain_text("31")
    now_s = time.time()
    _write(all_aliases()[1], DatabaseSample({}, 31, 10**9, 0, now_s), now_s)
    tab.expect(parked).to_contain_text("31")


def test_the_legend_tells_of_the_time_that_is_pointed_at(tab: Tab) -> None:
    lay_hour()
    open_charts(tab)
    memory = tab.find(legend("Redis memory (MiB)"))
    tab.expect(memory).to_contain_text("latest")
    tab.hover('.ops-chart[aria-label="Redis memory (MiB)"] .u-over')
    tab.expect(memory).not_to_contain_text("latest")


def test_a_chart_without_samples_says_so(tab: Tab) -> None:
    open_charts(tab)
    tab.expect(tab.find(".ops-chart .ops-empty:visible")).to_have_count(len(TITLES))
    tab.expect(tab.find("canvas:visible")).to_have_count(0)
    tab.see("No samples in this hour: no compensator ran, or Redis was away.", "None.")


def test_a_period_without_samples_is_shaded_and_named(tab: Tab) -> None:
    lay_hour()
    forget_minutes(20, 10)
    open_charts(tab)
    tab.expect(tab.find(".ops-chart li:text('No samples from')")).to_have_count(len(TITLES))


def test_what_the_server_does_not_answer_is_told(tab: Tab) -> None:
    """And the page goes on asking."""
    lay_hour()
    tab.refuse("**/admin/operations/*/")
    tab.sign_in(make_boss())
    tab.open("/admin/operations/")
    tab.see("Not refreshed at", "Not known: the server did not answer.")
    tab.refuse_nothing()
    tab.see("Refreshed at")
    tab.faults.clear()


@pytest.mark.parametrize(
    ("problems", "rest"),
    [(["", "", ""], "None."), (["", "down", ""], "None on the other databases.")],
)
def test_none_is_said_only_of_databases_that_answered(tab: Tab, problems, rest) -> None:
    shown = [{"name": f"db{n}", "problem": one, "queries": []} for n, one in enumerate(problems)]
    tab.answer("**/admin/operations/now/", {"databases": shown})
    open_charts(tab)
    tab.see(rest, *filter(None, problems))


def test_no_database_that_answers_is_not_none(tab: Tab) -> None:
    down = {"name": "db0", "problem": "db0 does not answer", "queries": []}
    tab.answer("**/admin/operations/now/", {"databases": [down]})
    open_charts(tab)
    tab.see("db0 does not answer")
    tab.see_no("None")
