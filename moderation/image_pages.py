"""The page of the admin on which moderators see the images of an account, hide and show them.

Django's admin has no lists of sharded rows, so this page is our own.
"""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.images.api.parse import read_image_id
from accounts.images.file_names import url_of_file
from accounts.images.queries.image_lists import ListedImage, list_images
from accounts.site_texts.queries import get_site_description
from moderation.actions.decide_on_image import decide_on_image
from moderation.admin.queue import REFUSED, words_of
from moderation.forms import find_account
from moderation.models import REASON_LENGTH
from moderation.types import DecisionKind, DecisionOrigin
from posts.ids import PostId

VIEW, DECIDE = "moderation.view_decision", "moderation.add_decision"
MOST_SHOWN = 50
_KINDS = [(kind.value, kind.value) for kind in (DecisionKind.HIDE, DecisionKind.SHOW)]


class ImagesForm(forms.Form):
    """The decision on the chosen images."""

    kind = forms.ChoiceField(choices=_KINDS)
    reason = forms.CharField(
        max_length=REASON_LENGTH, error_messages={"required": "Give a reason."}
    )


@require_http_methods(["GET", "HEAD", "POST"])
def show_images(request: HttpRequest) -> HttpResponse:
    """The images of the account in the query. A POST decides on the chosen ones."""
    needed = DECIDE if request.method == "POST" else VIEW
    if not request.user.has_perm(needed):
        raise PermissionDenied
    account = request.GET.get("account", "").strip()
    account_id = find_account(account)
    if request.method == "POST" and account_id is not None:
        _decide(request, account_id)
        return redirect(request.get_full_path())
    context = {
        **admin.site.each_context(request),
        "title": "Images of an account",
        "account": account,
        "account_id": account_id,
        "can_decide": request.user.has_perm(DECIDE),
        "reasons": get_site_description().reasons,
        **(_page(account_id, account, request.GET.get("before", "")) if account_id else {}),
    }
    return render(request, "moderation/images.html", context)


def _page(account_id: int, account: str, before: str) -> dict[str, Any]:
    images = list_images(account_id, MOST_SHOWN + 1, _time_of(before))
    shown = images[:MOST_SHOWN]
    older = {"account": account, "before": shown[-1].created_at.isoformat()} if shown else {}
    return {
        "images": [_present(image) for image in shown],
        "older": urlencode(older) if len(images) > MOST_SHOWN else "",
    }


def _time_of(text: str) -> datetime | None:
    """The end of the page before. None for the first page, and for another text."""
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _present(image: ListedImage) -> dict[str, Any]:
    post = None if image.moment is None else PostId.at(image.owner_id, image.moment).public
    return {
        "id": image.id,
        "address": url_of_file(image.names.original),
        "preview": url_of_file(image.names.small),
        "purpose": image.purpose.name.lower(),
        "post": post,
        "description": image.description,
        "created_at": image.created_at,
        "hidden_at": image.hidden_at,
    }


def _decide(request: HttpRequest, account_id: int) -> None:
    """Takes one decision for each chosen image; shows the refusals."""
    form = ImagesForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing done: {next(iter(form.errors.values()))[0]}")
        return
    kind = DecisionKind(form.cleaned_data["kind"])
    origin = DecisionOrigin(request.user.pk, form.cleaned_data["reason"])
    done = 0
    for text in request.POST.getlist("image")[:MOST_SHOWN]:
        try:
            done += decide_on_image(account_id, read_image_id(text), kind, origin) is not None
        except REFUSED as error:
            messages.error(request, f"Image {text}: {words_of(error)}")
    messages.info(request, f"Decisions taken: {done}")
