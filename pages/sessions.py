"""The browser session of a person: an access token in a cookie.

A session is a token of an application of our own. So it is in the list of applications that the
person can end, and it ends with the account's other tokens.
"""

from datetime import UTC, datetime
from hashlib import sha256

from django.conf import settings
from django.contrib.auth import get_user, login
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject
from oauth2_provider.settings import oauth2_settings

from accounts.actions.lock_user import lock_user
from accounts.actions.tokens import end_tokens, issue_token
from accounts.errors import LoginDisabled, PasswordReplaced
from accounts.models import AccessToken, Application, User
from accounts.types import IssuedToken
from infra.sharding.placement import GLOBAL_ALIAS
from pages import cookie
from pages.appearance import appearance_of, keep_appearance

COOKIE = cookie.NAME
CLIENT_ID = "tideline-web"
NAME = "Web"
BACKEND = "accounts.sign_in_throttle.PasswordBackend"
SCOPES = "read write follow push"
# All people of the pages share the application, so its quota must not be the limit of one client.
QUOTA = 1_000_000_000
MARK_DIGITS = 16
# In Django's session: the id of its token.
OF_TOKEN = "of_token"  # noqa: S105


def start_session(request: HttpRequest, answer: HttpResponse, user: User) -> None:
    """Signs this browser in: by a token for the pages, and a session of Django for the admin and
    the OAuth screens, which ends with the token. The session before it ends, because no browser
    has its token any more. About twenty statements on the default database. `user`: as read when
    the password was checked. Raises: PasswordReplaced if it was replaced since.
    """
    before = AccessToken.objects.filter(application__client_id=CLIENT_ID)
    issued = _issue_while_current(user)
    end_tokens(before.filter(token_checksum=_checksum(token_of(request))))
    login(request, user, BACKEND)
    request.session[OF_TOKEN] = issued.id
    answer.set_cookie(
        COOKIE,
        issued.token,
        max_age=oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )
    set_page_mark(answer, issued.token)
    if user.language:
        keep_appearance(answer, appearance_of(request)._replace(language=user.language))


def _issue_while_current(user: User) -> IssuedToken:
    """A new password ends all sessions: none may begin by the one before it a moment later."""
    with transaction.atomic(using=GLOBAL_ALIAS):
        if lock_user(user.pk).password != user.password:
            raise PasswordReplaced
        return issue_session(user.pk)


def issue_session(account_id: int) -> IssuedToken:
    """A token of the application of the pages."""
    application, _ = Application.objects.get_or_create(
        client_id=CLIENT_ID,
        defaults={
            "name": NAME,
            "scopes": SCOPES,
            "quota": QUOTA,
            "client_type": Application.CLIENT_CONFIDENTIAL,
            "authorization_grant_type": Application.GRANT_AUTHORIZATION_CODE,
        },
    )
    return issue_token(account_id, application.pk, SCOPES, datetime.now(UTC))


def find_session(request: HttpRequest) -> AccessToken | None:
    """The row of this browser's token, with its user. None for a token of another application.

    An application with few rights could send its token as the cookie. So pages that do more than
    the API allows that application ask for this. Raises: LoginDisabled. One query.
    """
    rows = AccessToken.objects.select_related("user").filter(
        application__client_id=CLIENT_ID, expires__gt=datetime.now(UTC)
    )
    session = rows.filter(token_checksum=_checksum(token_of(request))).first()
    if session is not None and not (session.user and session.user.is_active):
        raise LoginDisabled
    return session


def find_account_of_session(request: HttpRequest) -> int | None:
    """The account of this browser's token, also of a suspended account. One query."""
    tokens = AccessToken.objects.filter(token_checksum=_checksum(token_of(request)))
    return tokens.values_list("user_id", flat=True).first()


def token_of(request: HttpRequest) -> str:
    """The token of the browser's session; empty without one."""
    return request.COOKIES.get(COOKIE, "")


def end_session(request: HttpRequest, answer: HttpResponse) -> None:
    """Ends the token for all who may have it, and forgets the person. May run twice."""
    end_tokens(AccessToken.objects.filter(token_checksum=_checksum(token_of(request))))
    forget_person(answer)


def forget_person(answer: HttpResponse) -> None:
    """As `forget_session`, and drafts too: the next person at this browser must not find them."""
    forget_session(answer)
    answer["Clear-Site-Data"] = '"cache", "storage"'


def forget_session(answer: HttpResponse) -> None:
    """Removes the cookies, and the pages that the browser keeps for its Back button."""
    for name in (COOKIE, cookie.PAGE_MARK):
        answer.delete_cookie(name)
    answer["Clear-Site-Data"] = '"cache"'


def page_mark(token: str) -> str:
    """Names a session to scripts, which cannot read its token. Empty for a guest."""
    return _checksum(f"page {token}")[:MARK_DIGITS] if token else ""


def set_page_mark(answer: HttpResponseBase, token: str) -> None:
    """Scripts compare it with the mark of a page that the browser kept."""
    secure = settings.SESSION_COOKIE_SECURE
    answer.set_cookie(cookie.PAGE_MARK, page_mark(token), secure=secure, samesite="Lax")


def _checksum(token: str) -> str:
    return sha256(token.encode()).hexdigest()


class BoundSessions(AuthenticationMiddleware):
    """Sets `request.user`. Django's session, of OAuth and the admin, ends with its token.

    Without this, a person who ends a browser in the settings would leave it its way to new tokens.
    A session without a token is in no list that the person could end: its requests are those of a
    guest. Cost: one query by key more, on pages that ask who the user is.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: _find_user(request))  # type: ignore[assignment]


def _find_user(request: HttpRequest) -> object:
    user = get_user(request)
    if user.is_anonymous or _has_token(request, user.pk):
        return user
    request.session.flush()
    return AnonymousUser()


def _has_token(request: HttpRequest, user_id: int) -> bool:
    token_id = request.session.get(OF_TOKEN)
    own = AccessToken.objects.filter(pk=token_id, user_id=user_id)
    return token_id is not None and own.exists()
