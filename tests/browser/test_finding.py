"""The finder, typed into: an account, a post, an edge; and the page each leads to."""

import pytest

from tests.browser.community import Community
from tests.browser.tab import Tab
from tests.people import make_boss
from tests.world import make_account


@pytest.fixture
def community(world: None) -> Community:
    return Community()


@pytest.fixture
def seeker(tab: Tab) -> Tab:
    tab.sign_in(make_boss())
    tab.open("/admin/")
    tab.follow("Find an account, a post or an edge")
    tab.at("/admin/find/")
    return tab


def seek(tab: Tab, text: object) -> None:
    tab.fill("Find", str(text))
    tab.press("Find")


def test_accounts_by_name_and_by_id(community: Community, seeker: Tab) -> None:
    for text in ("@ben", community.ben):
        seek(seeker, text)
        seeker.at(f"/admin/find/account/{community.ben}/")
        seeker.see(f"Account {community.ben} · @ben", "Restrictions", "followers")


def test_posts_by_id_and_by_link(community: Community, seeker: Tab) -> None:
    post = community.posts[0].public
    for text in (post, f"{seeker.address}/@ben/{post}"):
        seek(seeker, text)
        seeker.at(f"/admin/find/post/{post}/")
        seeker.see("Morning tide")
    seeker.follow(str(community.ben))
    seeker.at(f"/admin/find/account/{community.ben}/")


def test_edges_by_pair(community: Community, seeker: Tab) -> None:
    seek(seeker, "ann ben")
    seeker.at(f"/admin/find/edge/{community.ann}/{community.ben}/")
    seeker.see("follow", "agrees")


def test_what_may_mean_two_things_is_asked_back(community: Community, seeker: Tab) -> None:
    namesake = make_account(str(community.ben))
    seek(seeker, community.ben)
    seeker.see("This may mean:")
    seeker.follow(f"Account {namesake}")
    seeker.at(f"/admin/find/account/{namesake}/")


def test_what_nothing_is_called(seeker: Tab) -> None:
    seek(seeker, "<b>nobody</b>")
    seeker.see("Nothing found")
    seeker.expect(seeker.find("#ops-q")).to_have_value("<b>nobody</b>")
