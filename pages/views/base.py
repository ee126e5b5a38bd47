"""What all pages share: who is signed in, how a page is drawn, and what happens to a refusal."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.functional import cached_property
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views import View

from accounts.api.quotas import charge_address
from accounts.errors import LoginDisabled
from accounts.token_tags import is_tagged
from infra.api.errors import TidelineError
from moderation.queries.decisions import find_suspension
from pages import cookie
from pages.api_client import ApiClient, ApiRefused
from pages.appearance import in_zone, zone_of
from pages.frame import MOST_UNREAD, Frame
from pages.sessions import (
    find_account_of_session,
    forget_session,
    page_mark,
    set_page_mark,
    token_of,
)

OK, UNAUTHORIZED, NOT_FOUND = 200, 401, 404
Context = Mapping[str, Any]


class WebPage(View):
    """A web page, drawn from answers of the API.

    `needs_viewer`: without a session the browser is sent to the sign-in page, and back. Without
    it, a session that ended is as none. `filter_place`: which of the viewer's filters count here,
    as the API names contexts; empty for none. `is_secret`: browsers must not keep the page, not
    even to go back to it.

    A page counts for the address of a guest, also if it asks the API nothing. The account of a
    person who is signed in pays for each question to the API; the frame comes with the first.
    """

    needs_viewer: ClassVar[bool] = False
    filter_place: ClassVar[str] = ""
    is_secret: ClassVar[bool] = False

    @cached_property
    def api(self) -> ApiClient:
        """The API, as the viewer of this page."""
        return ApiClient(self.request, token_of(self.request), self.frame)

    @cached_property
    def frame(self) -> Frame:
        """What the page shows next to its content. It is known after the first question."""
        return Frame(self.shows_unread)

    @property
    def shows_unread(self) -> bool:
        """Whether the frame has these numbers: not around a part of a page."""
        return self.request.method == "GET" and not self.is_partial

    @property
    def viewer(self) -> dict[str, Any] | None:
        """The account that is signed in, None if there is none."""
        if self.api.token:
            self.api.know_frame()
        return self.frame.viewer

    @property
    def signed_in(self) -> dict[str, Any]:
        """The account that is signed in. Raises: ApiRefused without one."""
        if self.viewer is None:
            raise ApiRefused(UNAUTHORIZED, "Sign in first", {})
        return self.viewer

    @property
    def unread(self) -> Mapping[str, int]:
        """How much is unread, as in Frame. A form that comes back asks for it here."""
        if self.viewer is not None and self.frame.unread is None:
            self.frame.has_unread = True
            self.api.ask_frame()
        return self.frame.unread or {}

    @property
    def page_mark(self) -> str:
        """The session that this page is for, as scripts know it."""
        return page_mark(token_of(self.request))

    @property
    def is_partial(self) -> bool:
        """Whether a script of the page asked, which replaces one part of it."""
        return "HX-Request" in self.request.headers

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with in_zone(zone_of(request)):
            return self._dispatch(request, *args, **kwargs)

    def _dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            answer = self._answer(request, *args, **kwargs)
        except ApiRefused as refusal:
            answer = self._answer_refusal(refusal)
        except TidelineError as error:
            refused = ApiRefused(error.status, str(error), error.headers)
            answer = self._answer_refusal(refused)
        except Http404:
            answer = self.draw_missing()
        self._limit_keeping(answer)
        return answer

    def _limit_keeping(self, answer: HttpResponseBase) -> None:
        """Browsers keep a page for their Back button. A script of the page asks if it is still for
        this session; on other answers there is no script."""
        is_page = self.request.method == "GET" and answer.status_code == OK and not self.is_partial
        if not is_page or self.is_secret:
            patch_cache_control(answer, private=True, no_store=True)
            return
        patch_cache_control(answer, private=True, no_cache=True)
        if self.request.COOKIES.get(cookie.PAGE_MARK, "") != self.page_mark:
            set_page_mark(answer, token_of(self.request))

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Raises: ApiRefused, TidelineError."""
        token = token_of(request)
        # A made-up cookie is free, so its requests are those of a guest.
        if not is_tagged(token):
            charge_address(request)
        if self.needs_viewer and not token:
            return self._send_to_sign_in()
        return super().dispatch(request, *args, **kwargs)

    def draw(self, template: str, context: Context, status: int = 200) -> HttpResponse:
        """A page or a part of one. Templates ask `page` for what only some of them show."""
        whole = {"viewer": self.viewer, "page": self, "most_unread": MOST_UNREAD, **context}
        return render(self.request, f"pages/{template}", whole, status=status)

    def draw_card(self, template: str, context: Context, status: int = 200) -> HttpResponse:
        """A page with one question, without the frame. It does not ask who is signed in."""
        return render(self.request, f"pages/{template}", dict(context), status=status)

    def go_back(self, default: str) -> HttpResponseRedirect:
        """After a write without a script: to the page on which the form is."""
        there = self.request.POST.get("next", "")
        is_ours = url_has_allowed_host_and_scheme(there, allowed_hosts=None)
        return HttpResponseRedirect(there if is_ours else default, status=303)

    def _answer_refusal(self, refusal: ApiRefused) -> HttpResponse:
        """A page without the frame, which may be what was refused."""
        if refusal.status == NOT_FOUND:
            return self.draw_missing()
        if refusal.status == UNAUTHORIZED:
            return self._send_to_sign_in()
        if refusal.message == LoginDisabled.text:
            account_id = find_account_of_session(self.request)
            suspension = find_suspension(account_id) if account_id else None
            return self.draw_refused("suspended.html", {"suspension": suspension}, refusal)
        return self.draw_refused("refused.html", {"refusal": refusal}, refusal)

    def draw_missing(self, missing: Context | None = None) -> HttpResponse:
        """What is not there, in the frame of the page. While the API does not answer it is a card,
        and so it is for a script. `missing`: title, why, way (an address) and way_name."""
        context = missing or {
            "title": gettext("There is no such page"),
            "why": gettext("It may have been deleted, or it is not for you to see."),
            "way": "/", "way_name": gettext("To the home page"),
        }  # fmt: skip
        if not self.is_partial:
            with suppress(ApiRefused):
                return self.draw("missing.html", context, NOT_FOUND)
        return self.draw_card("missing_card.html", context, NOT_FOUND)

    def draw_refused(self, template: str, context: Context, refusal: ApiRefused) -> HttpResponse:
        """A page without the frame, with the status of a refusal and when to come back."""
        answer = self.draw_card(template, context, refusal.status)
        if wait := refusal.headers.get("Retry-After"):
            answer["Retry-After"] = wait
        return answer

    def _send_to_sign_in(self) -> HttpResponse:
        """The way back is a page: a form that was sent is not sent again."""
        request = self.request
        there = request.get_full_path() if request.method == "GET" else "/"
        address = f"{settings.LOGIN_URL}?{urlencode({'next': there})}"
        if self.is_partial:
            answer = HttpResponse(status=204, headers={"HX-Redirect": address})
        else:
            answer = HttpResponseRedirect(address)
        if token_of(request):
            forget_session(answer)
        return answer
