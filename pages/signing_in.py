"""The end of every way to sign in: a session, or first the question for the second step.

Between the two steps the browser has a session of Django that says whose password was right, for
ten minutes. It opens nothing but the page of the second step.
"""

import time
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.crypto import constant_time_compare

from accounts.models import User
from accounts.second_step.queries import has_second_step
from pages.sessions import start_session

SECOND_STEP = "/auth/second_step"
FIRST_STEP = "first_step"
FIRST_STEP_S = 600


def sign_in(request: HttpRequest, answer: HttpResponseRedirect, user: User) -> HttpResponse:
    """`answer` with a session, or a redirect to the second step, after which the browser goes to
    the same page. `user`: as read when the password was checked. Cost: one query, and those of
    `start_session`. Raises: PasswordReplaced.
    """
    if not has_second_step(user.pk):
        start_session(request, answer, user)
        return answer
    # Another key: the browser may have got this session from another person.
    request.session.cycle_key()
    request.session[FIRST_STEP] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),
        "at": int(time.time()),
        "there": answer.url,
    }
    answer["Location"] = SECOND_STEP
    return answer


def find_first_step(request: HttpRequest) -> tuple[User, str] | None:
    """Who has passed the first step in this browser, and where they go after the second one.

    None: no person has, it was too long ago, or the password was replaced since. One query.
    """
    told: dict[str, Any] | None = request.session.get(FIRST_STEP)
    if told is None or told["at"] < time.time() - FIRST_STEP_S:
        return None
    user = User.objects.filter(pk=told["user"], is_active=True).first()
    if user is None or not constant_time_compare(user.get_session_auth_hash(), told["password"]):
        return None
    return user, told["there"]
