"""What the first page takes on the way, and that nothing moves while it comes."""

import pytest

from tests.browser.feeds import enter, make_named
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.callers import Caller
from tests.world import drain_all, publish

MOST_BYTES = 110_000
# With the headers of the answers. The page itself is the first.
BYTES = """["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type))
  .filter((one) => !one.name.includes("/home/new"))
  .map((one) => [new URL(one.name).pathname, one.transferSize])"""
SHIFT = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) sum += one.value;
  }).observe({type: "layout-shift", buffered: true});
  setTimeout(() => done(sum), 300);
})"""


@pytest.fixture(autouse=True)
def long_posts(ann: int) -> None:
    for n in range(20):
        publish(ann, f"Post number {n}: as long as most posts are, which is two lines or so. " * 2)
    drain_all()


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_the_first_page_is_small(ann: int, tab_of, locale: str) -> None:
    tab: Tab = tab_of(locale=locale)
    enter(tab, ann)
    tab.open("/")
    sizes = tab.run(BYTES)
    assert len(sizes) >= 4, sizes
    assert sum(size for _, size in sizes) <= MOST_BYTES, sizes
    # Services declared no reactions.
    assert "react" not in str(sizes) + tab.run("document.documentElement.outerHTML")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_moves_while_a_page_comes(ann: int, tab_of, size: Size) -> None:
    tab: Tab = tab_of(size)
    enter(tab, ann)
    ben, message = Caller(make_named("ben")), {"status": "@ann #tide", "visibility": "direct"}
    for sent in (message, {"status": "@ann #tide"}):
        assert ben.post("/api/v1/statuses", sent).status_code == 200
    drain_all()
    for path in (
        "/",
        "/@ann",
        "/notifications",
        "/conversations",
        "/search",
        "/lists",
        "/tags/tide",
    ):
        tab.open(path)
        assert tab.run(SHIFT) < 0.01, path
