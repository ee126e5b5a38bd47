"""Makes the accounts that the suites expect, and prints their credentials as JSON.

    python -m lab.conformance.make_accounts       with the environment of the instance

The names, addresses and passwords are those of Mastodon.py's own setup (tests/setup.sql).
"""

import json
import sys
from datetime import UTC, datetime

import django

django.setup()

# Models can be imported only after django.setup().
from accounts.actions.register_application import register_application  # noqa: E402
from accounts.actions.sign_up import sign_up  # noqa: E402
from accounts.actions.tokens import issue_token  # noqa: E402
from accounts.actions.update_profile import update_profile  # noqa: E402
from accounts.models import Application  # noqa: E402
from accounts.oauth import OUT_OF_BAND  # noqa: E402
from accounts.site_texts.models import SiteTexts  # noqa: E402
from accounts.types import NewApplication, NewUser, ProfileEdit  # noqa: E402

# The name of each token in the tests. Nothing asks for the second one.
PEOPLE = {
    "admin": "ACCESS_TOKEN_2",
    "admin2": "ACCESS_TOKEN_4",
    "mastodonpy_test": "ACCESS_TOKEN",
    "mastodonpy_test_2": "ACCESS_TOKEN_3",
}
ADMINS = ("admin", "admin2")
LOCKED = "mastodonpy_test"
SCOPES = "read write follow push"
PASSWORD = "5fc638e0e53eafd9c4145b6bb852667d"


def main() -> None:
    now = datetime.now(UTC)
    application, secret = _application()
    credentials = {"CLIENT_ID": application.client_id, "CLIENT_SECRET": secret}
    for username, name in PEOPLE.items():
        new = NewUser(username, f"{username}@localhost", PASSWORD, is_superuser=username in ADMINS)
        account_id = sign_up(new, now)
        credentials[name] = issue_token(account_id, application.pk, SCOPES, now).token
        if username == LOCKED:
            update_profile(account_id, ProfileEdit(is_locked=True))
    # Some clients cannot read a site without one.
    SiteTexts.objects.create(contact="admin")
    sys.stdout.write(json.dumps(credentials))


def _application() -> tuple[Application, str]:
    return register_application(
        NewApplication("Mastodon.py test suite", OUT_OF_BAND, scopes=SCOPES, website="")
    )


if __name__ == "__main__":
    main()
