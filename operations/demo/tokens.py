"""Access tokens of the demo's own application."""

from datetime import datetime

from accounts.actions.register_application import register_application
from accounts.actions.tokens import issue_token
from accounts.models import Application
from accounts.oauth import OUT_OF_BAND
from accounts.queries.users import find_account_id
from accounts.scopes import BROAD
from accounts.types import NewApplication
from operations.demo.errors import NoSuchAccount

APPLICATION = "Tideline demo"


def demo_token(username: str, now: datetime) -> str:
    """A new token with all scopes. The latest MAX_SESSIONS stay valid. Raises NoSuchAccount."""
    account_id = find_account_id(username)
    if account_id is None:
        raise NoSuchAccount(username)
    return issue_token(account_id, _application().pk, " ".join(BROAD), now).token


def _application() -> Application:
    application = Application.objects.filter(name=APPLICATION).order_by("pk").first()
    if application is not None:
        return application
    new = NewApplication(APPLICATION, OUT_OF_BAND, scopes=" ".join(BROAD), website="")
    return register_application(new)[0]
