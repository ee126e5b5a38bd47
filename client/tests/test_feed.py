"""A feed on a page of the product: posts, nothing yet, or Tideline away; never an error."""

import httpx
import pytest
from django.contrib.auth.models import AnonymousUser
from django.template import engines

from site_double import ACCOUNT, SiteDouble, ok, refused, status_of
from tideline_client.contrib.django.feeds import (
    AccountNotReady,
    FeedState,
    acting_for,
    load_feed,
)
from tideline_client.contrib.django.models import AccountSync

PAGE = "{% load tideline %}{% tideline_feed user %}"


@pytest.fixture
def known(ann):
    """Ann, whom Tideline has."""
    AccountSync.objects.update(account_id="42", due_at=None)
    return ann


def drawn(user):
    return engines["django"].from_string(PAGE).render({"user": user})


def test_posts_of_the_user_are_drawn(known, use_site):
    site = SiteDouble(ok([status_of(9), status_of(8, content="<p>Second</p>")]))
    use_site(site)
    page = drawn(known)
    assert "<p>Hello</p>" in page
    assert page.index("<p>Hello</p>") < page.index("<p>Second</p>")
    assert '<a href="https://feed.example.org/@ann">Ann</a>' in page
    [request] = site.asked
    assert request.headers["Tideline-Account"] == "42"
    assert int(request.headers["Tideline-Deadline-Ms"]) <= 500
    assert dict(request.url.params) == {"limit": "20"}


def filtered(action):
    head = {"id": "1", "title": "x", "context": ["home"], "expires_at": None}
    head["filter_action"] = action
    return [{"filter": head, "keyword_matches": ["x"], "status_matches": None}]


def quoting(number, **changes):
    """A post that quotes another one."""
    quoted = status_of(number, **({"content": f"<p>Quoted {number}</p>"} | changes))
    quote = {"state": "accepted", "quoted_status": quoted}
    return status_of(10 + number, content="<p>Look</p>", quote=quote)


def test_a_quoted_post_is_shown_unless_it_cannot_be(known, use_site):
    revoked = status_of(9, quote={"state": "revoked", "quoted_status": None})
    hidden = quoting(3, filtered=filtered("hide"))
    warned = quoting(2, filtered=filtered("warn"), content="<script>x</script><p>Quoted 2</p>")
    use_site(SiteDouble(ok([quoting(1), warned, hidden, revoked])))
    page = drawn(known)
    assert "<p>Quoted 1</p>" in page and "Quoted 3" not in page and "<script" not in page
    assert page.index("<summary>Filtered: x</summary>") < page.index("<p>Quoted 2</p>")
    assert page.count("The quoted post cannot be shown.") == 2


def test_what_a_filter_hides_is_not_shown_and_the_older_page_is(known, use_site):
    hidden = status_of(9, content="<p>Hidden</p>", filtered=filtered("hide"))
    warned = status_of(8, content="<p>Warned</p>", filtered=filtered("warn"))
    use_site(SiteDouble(ok([hidden, warned, status_of(7)])))
    page = drawn(known)
    assert "Hidden" not in page
    assert "<summary>Filtered: x</summary>" in page
    assert "Warned" in page and "<p>Hello</p>" in page


def test_a_repost_shows_the_post_and_who_reposted_it(known, use_site):
    ben = ACCOUNT | {"display_name": "Ben"}
    repost = status_of(9, account=ben, content="", reblog=status_of(8))
    use_site(SiteDouble(ok([repost])))
    page = drawn(known)
    assert "Ben reposted" in page
    assert "<p>Hello</p>" in page


def test_a_promotion_says_what_it_is(known, use_site):
    """It has the form of a repost by its own author."""
    item = status_of(9, content="", reblog=status_of(8), promoted=True, campaign="1", type="post")
    use_site(SiteDouble(ok([item])))
    page = drawn(known)
    assert ">Promoted</p>" in page and "reposted" not in page


HOSTILE = (
    '<p onclick="steal()">Hi<script>steal()</script><img src=x onerror=steal()>'
    '<a href="javascript:steal()">x</a><iframe src="//evil"></iframe><style>*{}</style></p>'
)


def test_hostile_html_does_not_reach_the_page(known, use_site):
    account = ACCOUNT | {"display_name": "<script>steal()</script>", "url": "javascript:steal()"}
    image = {"preview_url": "javascript:steal()", "description": '"><script>steal()</script>'}
    status = status_of(
        9,
        account=account,
        content=HOSTILE,
        spoiler_text="<script>steal()</script>",
        media_attachments=[image],
    )
    use_site(SiteDouble(ok([status])))
    page = drawn(known)
    for word in ("<script", "onclick", "onerror", "javascript:", "<iframe", "<style"):
        assert word not in page.replace("&lt;script", "")
    assert "Hi" in page


IMAGE = {"preview_url": "https://feed.example.org/small.jpg", "description": "A gull"}


@pytest.mark.parametrize(
    ("changes", "summary"),
    [
        ({"sensitive": True, "spoiler_text": "Blood"}, "Blood"),
        ({"sensitive": True}, "Sensitive photos"),
    ],
)
def test_photos_wait_behind_the_warning(known, use_site, changes, summary):
    use_site(SiteDouble(ok([status_of(9, media_attachments=[IMAGE], **changes)])))
    page = drawn(known)
    assert page.index(f"<summary>{summary}") < page.index("<img") < page.index("</details>")
    assert page.count("<details>") == page.count("</details>") == 1


def test_other_photos_are_shown_at_once(known, use_site):
    use_site(SiteDouble(ok([status_of(9, media_attachments=[IMAGE])])))
    page = drawn(known)
    assert "<img" in page and "<details" not in page


def test_links_of_posts_stay_links(known, use_site):
    content = '<p><a href="https://example.org" class="u-url">x</a><br>y</p>'
    use_site(SiteDouble(ok([status_of(9, content=content)])))
    assert 'href="https://example.org"' in drawn(known)
    assert 'rel="nofollow noopener noreferrer"' in drawn(known)


@pytest.mark.parametrize(
    "answer",
    [refused(503), refused(401), refused(403), refused(500), httpx.ConnectError("no"), ok({})],
)
def test_without_tideline_the_page_says_so(known, use_site, answer, caplog):
    site = SiteDouble(answer)
    use_site(site)
    page = drawn(known)
    assert "not available at the moment" in page
    assert 'data-state="away"' in page
    assert len(site.asked) == 1, "a page does not try again"
    assert f"The feed of user {known.pk} is left out" in caplog.text


def test_a_user_that_tideline_has_not_got_yet(ann, use_site):
    site = SiteDouble(ok([]))
    use_site(site)
    assert "is being prepared" in drawn(ann)
    with pytest.raises(AccountNotReady, match="sync_tideline"):
        acting_for(ann)
    assert site.asked == []


def test_an_empty_feed_says_what_to_do(known, use_site):
    use_site(SiteDouble(ok([])))
    assert "Nothing here yet" in drawn(known)


def test_a_visitor_sees_nothing(db, use_site):
    use_site(SiteDouble(refused(500)))
    assert drawn(AnonymousUser()).strip() == ""


def test_the_next_page(known, use_site):
    link = '<https://feed.example.org/x?max_id=8>; rel="next"'
    site = SiteDouble(ok([status_of(9)], Link=link), ok([]))
    use_site(site)
    feed = load_feed(known, limit=1)
    assert (feed.state, feed.older) == (FeedState.READY, "8")
    assert load_feed(known, limit=1, max_id=feed.older).older == ""
    assert dict(site.asked[1].url.params) == {"limit": "1", "max_id": "8"}


def test_acting_for_a_user(known, use_site):
    site = SiteDouble(ok(status_of(9)))
    use_site(site)
    acting_for(known).statuses.create("Hello")
    assert site.asked[0].headers["Tideline-Account"] == "42"
