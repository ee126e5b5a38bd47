"""The operator of `make run`: a superuser with the public password of the demo community."""

from datetime import datetime

from django.conf import settings

from accounts.actions.sign_up import sign_up
from accounts.models import User
from accounts.types import NewUser
from infra.api.errors import ValidationFailed
from operations.demo.community import PASSWORD
from operations.demo.errors import DevelopmentOnly

USERNAME = "operator"
EMAIL = "operator@demo.invalid"


def ensure_operator(now: datetime) -> str | None:
    """The username of the demo's operator, which is created if there is no superuser.

    None: the operator is another person, or a person has this name. Safety: may run at any time.
    """
    if not settings.DEVELOPMENT:
        raise DevelopmentOnly("the operator of make run")
    superusers = User.objects.filter(is_superuser=True)
    if superusers.filter(username=USERNAME, email=EMAIL).exists():
        return USERNAME
    if superusers.exists():
        return None
    try:
        sign_up(NewUser(USERNAME, EMAIL, PASSWORD, "Operator", is_superuser=True), now)
    except ValidationFailed:
        return None
    return USERNAME
