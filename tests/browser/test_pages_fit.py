"""Every page of the admin, at the width of a desk and of a phone: nothing to scroll sideways."""

import time

import pytest

from infra.caching.fleet_reads import add_reads
from infra.changes.lag import report_lag
from infra.sharding.buckets import shard_of
from infra.sharding.placement import all_aliases
from moderation.models import Appeal, Decision
from tests.browser.community import Community
from tests.browser.conftest import SHOTS
from tests.browser.hour import lay_hour
from tests.browser.people import make_boss
from tests.browser.tab import DESKTOP, PHONE

MODELS = {
    "moderation": ("report", "decision", "appeal"),
    "accounts": ("user", "application", "accesstoken"),
    "promotions": ("campaign",),
    "jobs": ("jobrun",),
}
KEYS = {
    b"posts.weeks:v3:{%d}:2950": 1200,
    b"relations.between:v4:{%d}:of-a-key-that-is-as-long-as-any": 640,
}

# Choices that are squeezed to their arrow.
SQUEEZED = """[...document.querySelectorAll("select")].filter(
  (one) => one.offsetParent && one.clientWidth < 48).map((one) => one.name)"""


def paths(community: Community) -> dict[str, str]:
    """By the name of the picture."""
    ann, ben = community.ann, community.ben
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
        "report": f"moderation/report/{community.report().pk}/change/",
        "decision": f"moderation/decision/{decision}/change/",
        "decision-add": f"moderation/decision/add/?target={ben}",
        "appeal": f"moderation/appeal/{Appeal.objects.get().pk}/change/",
        "user": f"accounts/user/{ben}/change/",
        "campaign-add": "promotions/campaign/add/",
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
    tab.open("/admin/login/")
    tab.shoot(SHOTS / f"login-{size.width}.png")
    tab.sign_in(make_boss())
    wider, squeezed = {}, {}
    for name, path in paths(community).items():
        add_reads({key % community.ben: reads for key, reads in KEYS.items()}, time.time())
        tab.open(f"/admin/{path}")
        if name == "operations":
            tab.see("Refreshed at")
        tab.shoot(SHOTS / f"{name}-{size.width}.png")
        wider[name], squeezed[name] = tab.overflow_px(), tab.run(SQUEEZED)
    assert {name: px for name, px in wider.items() if px > 0} == {}
    assert {name: selects for name, selects in squeezed.items() if selects} == {}
