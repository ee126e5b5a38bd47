"""The finder: one box for accounts, posts and edges, and a page about each."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from accounts.models import User
from notifications.ids import MAX_ID
from operations.queries.account import read_account_sections
from operations.queries.edge import read_edges
from operations.queries.finder import find
from operations.queries.notifications import read_notifications
from operations.queries.post import read_post
from operations.site import page_context
from operations.types import SearchResult, Section
from posts.ids import MalformedPostId, PostId

DECIDE = "moderation.add_decision"


@require_safe
def show_finder(request: HttpRequest) -> HttpResponse:
    """Lists the possible meanings of a text. Redirects if there is only one."""
    text = request.GET.get("q", "")
    hits = find(text)
    if len(hits) == 1:
        return redirect(hits[0].url)
    context = page_context(request, "Find") | {"q": text, "found": hits}
    return render(request, "operations/find.html", context)


@require_safe
def show_account(request: HttpRequest, account_id: int) -> HttpResponse:
    user = User.objects.filter(pk=account_id).first()
    if user is None:
        return _nothing(request, f"There is no account {account_id}")
    title = f"Account {account_id} · @{user.username}"
    return _show(request, title, read_account_sections(user), [*_account_links(request, user)])


@require_safe
def show_notifications(request: HttpRequest, account_id: int) -> HttpResponse:
    user = User.objects.filter(pk=account_id).first()
    if user is None:
        return _nothing(request, f"There is no account {account_id}")
    below = _parse_below(request.GET.get("below", ""))
    if below is None:
        return _nothing(request, "No page begins there")
    page = read_notifications(account_id, below)
    links = [SearchResult("Account", reverse("find_account", args=[account_id]))]
    if page.older is not None:
        links.append(SearchResult("Older", f"?{urlencode({'below': page.older})}"))
    return _show(request, f"Notifications of {account_id} · @{user.username}", page.sections, links)


@require_safe
def show_post(request: HttpRequest, public_id: str) -> HttpResponse:
    try:
        post_id = PostId.from_public(public_id)
    except MalformedPostId:
        return _nothing(request, "This is not a post id")
    links = _decision_links(request, post_id.public, "Hide, show or delete it")
    return _show(request, f"Post {post_id.public}", read_post(post_id), [*links])


@require_safe
def show_edge(request: HttpRequest, first: int, second: int) -> HttpResponse:
    links = [
        SearchResult(f"Account {i}", reverse("find_account", args=[i])) for i in (first, second)
    ]
    if first == second:
        return _nothing(request, "An account cannot follow itself: name two accounts")
    return _show(request, f"Between {first} and {second}", read_edges(first, second), links)


def _parse_below(text: str) -> int | None:
    """The id below which a page begins; None if no notification can have it."""
    if not text:
        return MAX_ID
    is_id = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_ID))
    return min(int(text), MAX_ID) if is_id else None


def _account_links(request: HttpRequest, user: User) -> Iterator[SearchResult]:
    yield SearchResult("Home timeline", reverse("home_timeline", args=[user.pk]))
    yield SearchResult("Notifications", reverse("find_notifications", args=[user.pk]))
    yield from _decision_links(request, str(user.pk), "Warn, limit, freeze, suspend or restore it")
    if request.user.has_perm("accounts.view_user"):
        yield SearchResult("User", reverse("admin:accounts_user_change", args=[user.pk]))
    if request.user.has_perm("moderation.view_decision"):
        where = f"{reverse('images_of_account')}?{urlencode({'account': user.pk})}"
        yield SearchResult("Images", where)


def _decision_links(request: HttpRequest, target: str, title: str) -> Iterator[SearchResult]:
    if request.user.has_perm(DECIDE):
        where = reverse("admin:moderation_decision_add")
        yield SearchResult(title, f"{where}?{urlencode({'target': target})}")


def _show(
    request: HttpRequest, title: str, sections: Sequence[Section], links: Sequence[SearchResult]
) -> HttpResponse:
    context: dict[str, Any] = {"sections": sections, "links": links}
    return render(request, "operations/facts.html", page_context(request, title) | context)


def _nothing(request: HttpRequest, title: str) -> HttpResponse:
    return render(request, "operations/facts.html", page_context(request, title), status=404)
