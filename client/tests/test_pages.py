"""Lists: page by page, by cursor."""

import json

import httpx

from site_double import URL, SiteDouble, ok, status_of

NEXT = f'<{URL}/api/v1/timelines/home?limit=2&max_id=8>; rel="next"'
PREVIOUS = f'<{URL}/api/v1/timelines/home?limit=2&min_id=9>; rel="prev"'


def pages():
    return SiteDouble(
        ok([status_of(9), status_of(8)], Link=f"{NEXT}, {PREVIOUS}"),
        ok([status_of(7)], Link=f'<{URL}/x?max_id=7>; rel="next"'),
        ok([]),
    )


def test_a_list_is_read_to_its_end():
    site = pages()
    home = site.client().timelines.home(limit=2)
    assert site.asked == []
    assert [status.id for status in home] == ["9", "8", "7"]
    assert [dict(request.url.params) for request in site.asked] == [
        {"limit": "2"},
        {"limit": "2", "max_id": "8"},
        {"limit": "2", "max_id": "7"},
    ]


def test_one_page_knows_its_neighbours():
    site = pages()
    page = site.client().timelines.home(limit=2).first()
    assert [status.id for status in page] == ["9", "8"]
    assert (len(page), page.next, page.previous) == (2, {"max_id": "8"}, {"min_id": "9"})
    assert len(site.asked) == 1
    assert page.next is not None
    site.client().timelines.home(limit=2, **page.next).first()
    assert dict(site.asked[1].url.params) == {"limit": "2", "max_id": "8"}


def test_the_page_after_one_around_a_status_is_below_it():
    site = pages()
    [*site.client().timelines.home(around_id="8").by_page()]
    assert dict(site.asked[0].url.params) == {"around_id": "8"}
    assert dict(site.asked[1].url.params) == {"max_id": "8"}


def test_a_link_leads_no_token_to_another_server():
    evil = ok([status_of(9)], Link='<https://evil.example/steal?max_id=9&x=1>; rel="next"')
    site = SiteDouble(evil, ok([]))
    [*site.client().timelines.home()]
    assert {request.url.host for request in site.asked} == {"feed.example.org"}
    assert dict(site.asked[1].url.params) == {"max_id": "9"}


def test_mutual_follows_have_their_number():
    body = {"count": 212, "mutuals": [{"account_id": "9", "since_ms": 5}]}
    page = SiteDouble(ok(body)).client().relations.mutuals("42").first()
    assert page.total == 212
    assert [(mutual.account_id, mutual.since_ms) for mutual in page] == [("9", 5)]


def related(request: httpx.Request) -> httpx.Response:
    """The accounts 1 to 1,500 are followed by those with an even number."""
    pairs = json.loads(request.content)["pairs"]
    return ok(
        [
            pair
            | {
                "following": int(pair["account_id"]) % 2 == 0,
                "requested": False,
                "blocking": False,
                "since_ms": None,
            }
            for pair in pairs
        ]
    )


def test_relations_are_asked_by_the_thousand():
    site = SiteDouble(related)
    relations = site.client().relations
    candidates = [str(number) for number in range(1, 1_501)]
    followers = relations.followers_among("42", candidates)
    assert followers == {str(number) for number in range(2, 1_501, 2)}
    assert [len(body["pairs"]) for body in site.bodies()] == [1_000, 500]
    assert relations.followed_among("42", ["1", "2"]) == {"1", "2"}
    assert relations.followers_among("42", []) == set()
