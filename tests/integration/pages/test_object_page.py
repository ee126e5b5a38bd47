"""The page of an object says what it is, leads to it, and to a post about it."""

import pytest

from relations.actions.follow import follow
from tests.integration.integrations.services import Service
from tests.integration.pages.browsing import Browser
from tests.integration.posts.interacting import STATUSES
from tests.world import drain_all, make_account


@pytest.fixture
def service(world):
    service = Service()
    words = {"en": "recipe", "de": "Rezept"}
    service.put("/api/v1/services/object_kinds/recipe", {"words": words})
    return service


def make_soup(service, **fields):
    sent = {"title": "Lentil <soup>", "username": "soup", **fields}
    answer = service.put("/api/v1/services/objects/recipe/17", sent)
    assert answer.status_code == 200, answer.content
    return answer.json()["account_id"]


def test_it_says_what_it_is_and_leads_to_it(service):
    soup = make_soup(service, url='https://product.example/17?a="b"&c')
    reader = Browser(make_account())
    page = reader.read("/@soup")
    assert "Lentil &lt;soup&gt;" in page
    assert ">recipe</span>" in page
    assert 'href="https://product.example/17?a=&#34;b&#34;&amp;c"' in page
    assert ">product.example</a>" in page
    assert "Here since" in page
    assert 'href="/compose?text=%40soup%20"' in page
    assert page.count("/conversations/new?to=soup") == 1, "in the menu"
    assert "@soup </textarea>" in reader.read("/compose?text=%40soup%20")
    post = service.post(STATUSES, soup, {"status": "New: with lemon"}).json()
    drain_all()
    assert f'id="post-{post["id"]}"' in reader.read("/@soup")


def test_it_says_so_in_the_language_of_the_reader(service):
    make_soup(service)
    german = Browser(make_account())
    german.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    assert ">Rezept</span>" in german.read("/@soup")
    french = Browser()
    french.client.defaults["HTTP_ACCEPT_LANGUAGE"] = "fr"
    assert ">recipe</span>" in french.read("/@soup")


def test_a_person_is_none(world):
    make_account("ann")
    page = Browser(make_account()).read("/@ann")
    assert "Joined" in page
    assert "Post about" not in page


def test_a_share_is_in_the_homes_of_its_followers(service):
    soup, reader = int(make_soup(service)), make_account()
    browser = Browser(reader)
    follow(reader, soup)
    author = Browser(make_account("ann"))
    author.send("/statuses", {"status": "Cooked @soup"})
    drain_all()
    page = browser.read("/")
    assert "Cooked" in page
    assert "Lentil &lt;soup&gt;" in page
