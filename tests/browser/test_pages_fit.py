"""Every page of the admin, at the width of a desk and of a phone: nothing to scroll sideways."""

import time

import pytest

from infra.caching.fleet_reads import add_reads
from infra.changes.lag import report_lag
from infra.sharding.buckets import shard_of
from infra.sharding.shards import all_aliases
from moderation.models import Appeal, Decision
from tests.browser.artifacts import SHOTS
from tests.browser.community import Community
from tests.browser.hour import lay_hour
from tests.browser.tab import DESKTOP, PHONE, Tab
from tests.people import make_boss

MODELS = {
    "moderation": ("report", "decision", "appeal", "timedrestriction", "jointdecision"),
    "accounts": ("user", "application", "accesstoken"),
    "promotions": ("campaign",),
    "jobs": ("jobrun",),
    "axes": ("accessattempt",),
    "auth": ("group",),
}
KEYS = {
    b"posts.weeks:v3:{%d}:2950": 1200,
    b"relations.between:v4:{%d}:of-a-key-that-is-as-long-as-any": 640,
}

# Choices that are squeezed to their arrow.
SQUEEZED = """[...document.querySelectorAll("select")].filter(
  (one) => one.offsetParent && one.clientWidth < 48).map((one) => one.name)"""
OPEN = """document.querySelectorAll("details").forEach((one) => { one.open = true; })"""
# Parts of a page that scroll sideways by themselves.
SCROLLED = """[...document.querySelectorAll("#content *")].filter((one) =>
  one.scrollWidth > one.clientWidth + 1 && one.clientWidth
  && one.tagName !== "SELECT" && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)
).map((one) => `${one.tagName} ${one.className} ${one.scrollWidth - one.clientWidth}`)"""
# Texts whose colour is too close to the colour behind them, as WCAG counts it.
FAINT = """(() => {
  document.getAnimations().forEach((one) => one.finish());  // to the colours of the other theme
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const linear = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const light = (rgb) => rgb.slice(0, 3).reduce(
    (sum, one, at) => sum + linear(one / 255) * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  const walker = document.createTreeWalker(
    document.querySelector("#content"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility() || one.closest("option")) {
      continue;
    }
    const [more, less] = [light(parts(getComputedStyle(one).color)), light(behind(one))].sort(
      (a, b) => b - a);
    const ratio = (more + 0.05) / (less + 0.05);
    if (ratio < 4.5) found.add(`${one.tagName} ${one.className} ${ratio.toFixed(1)}`);
  }
  return [...found];
})()"""
# The pages that moderators read, also shot as they are in the dark.
DARK = ("report", "report-list", "user", "user-list", "accessattempt-list", "operations", "images")


def paths(community: Community) -> dict[str, str]:
    """By the name of the picture."""
    ann, ben, posts = community.ann, community.ben, community.make_trouble()
    decision = Decision.objects.order_by("id")[0].pk
    one = {
        "index": "",
        "operations": "operations/",
        "find": "find/",
        "found-nothing": "find/?q=nobody",
        "account": f"find/account/{ben}/",
        "post": f"find/post/{community.posts[0].public}/",
        "edge": f"find/edge/{ann}/{ben}/",
        "home": f"find/account/{ann}/home/",
        "parked": f"parked/?shard={shard_of(ben)}",
        "hot-keys": "hot_keys/",
        "moves": "moves/",
        "report": f"moderation/report/{community.report(*posts).pk}/change/",
        "images": f"moderation/images/?account={ben}",
        "decision": f"moderation/decision/{decision}/change/",
        "decision-add": f"moderation/decision/add/?target={ben}",
        "appeal": f"moderation/appeal/{Appeal.objects.order_by('id')[0].pk}/change/",
        "user": f"accounts/user/{ben}/change/",
        "several": f"moderation/several/?account={ben}&post={community.posts[0].public}",
        "campaign-add": "promotions/campaign/add/",
        "site-texts": "site_texts/sitetexts/",
    }
    lists = {f"{n}-list": f"{app}/{n}/" for app, names in MODELS.items() for n in names}
    return one | lists


@pytest.fixture
def community(world: None) -> Community:
    community = Community()
    community.lose_from_home(community.posts[1])
    community.fill_lists()
    community.park_a_post()
    for alias in all_aliases():
        report_lag(alias)
    lay_hour()
    return community


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_pages_fit(community: Community, tab_of, size) -> None:
    tab = tab_of(size)
    tab.sign_in(make_boss())
    wider, squeezed, faint = {}, {}, {}
    for name, path in paths(community).items():
        add_reads({key % community.ben: reads for key, reads in KEYS.items()}, time.time())
        tab.open(f"/admin/{path}")
        if name == "operations":
            tab.see("Refreshed at")
        tab.shoot(SHOTS / f"{name}-{size.width}.png")
        wider[name], squeezed[name] = tab.overflow_px(), tab.run(SQUEEZED)
        if size.is_phone:
            tab.run(OPEN)
            wider[name], squeezed[name] = tab.overflow_px(), tab.run(SQUEEZED) + tab.run(SCROLLED)
            faint[name] = [*tab.run(FAINT), *_in_the_dark(tab, name)]
    assert {name: px for name, px in wider.items() if px > 0} == {}
    assert {name: selects for name, selects in squeezed.items() if selects} == {}
    assert {name: texts for name, texts in faint.items() if texts} == {}


def _in_the_dark(tab: Tab, name: str) -> list[str]:
    """The texts that are hard to read there."""
    with tab.dark():
        if name in DARK:
            tab.shoot(SHOTS / f"{name}-dark-{tab.size.width}.png")
        return [f"{one} in the dark" for one in tab.run(FAINT)]
