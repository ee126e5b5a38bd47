"""A real provider of OpenID Connect: django-oauth-toolkit's, in a process of its own.

    with oidc_provider() as provider:
        provider.browser("ann").authorize(address)

As a program it is the provider: `python -m tests.oidc_provider PORT FOLDER`.
"""

import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from subprocess import Popen
from typing import Any, NamedTuple

from jwcrypto.jwk import JWK

from lab.runner.port import free_port
from tests.waiting import until

CLIENT_ID, CLIENT_SECRET = "tideline", "a secret of the client"
CALLBACK = "http://localhost:8000/auth/oidc/callback"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Browser:
    """Somebody who is signed in at the provider."""

    def __init__(self, url: str, name: str) -> None:
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(jar, _NoRedirect)
        self._opener.open(f"{url}/as/{name}").read()

    def authorize(self, address: str) -> str:
        """Where the provider sends the browser back to."""
        try:
            answer = self._opener.open(address)
        except urllib.error.HTTPError as redirect:
            return str(redirect.headers["Location"])
        raise AssertionError(answer.read())


class Provider(NamedTuple):
    url: str

    @property
    def issuer(self) -> str:
        return f"{self.url}/o"

    def browser(self, name: str) -> Browser:
        return Browser(self.url, name)


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "log").open("wb") as log:
            words = [sys.executable, "-m", "tests.oidc_provider", str(port), folder]
            process = Popen(words, stdout=log, stderr=log)
        provider = Provider(f"http://localhost:{port}")
        try:
            until(lambda: _is_up(provider))
            yield provider
        finally:
            process.kill()
            process.wait()


def _is_up(provider: Provider) -> bool:
    try:
        address = f"{provider.issuer}/.well-known/openid-configuration"
        return bool(urllib.request.urlopen(address, timeout=5).read())
    except OSError:
        return False


def main(port: str, folder: str) -> None:
    from django.conf import settings  # noqa: PLC0415 - it is configured here

    settings.configure(
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="x" * 60,
        ROOT_URLCONF="tests.oidc_provider_urls",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{folder}/provider.sqlite"}
        },
        INSTALLED_APPS=[
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": f"http://localhost:{port}/o",
            "OIDC_RSA_PRIVATE_KEY": JWK.generate(kty="RSA", size=2048)
            .export_to_pem(private_key=True, password=None)
            .decode(),
            "OAUTH2_VALIDATOR_CLASS": "tests.oidc_provider_urls.Validator",
            "SCOPES": {"openid": "who you are", "profile": "your name"},
            "ALLOWED_REDIRECT_URI_SCHEMES": ["http"],
        },
    )
    _run(port)


def _run(port: str) -> None:
    import django  # noqa: PLC0415

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from oauth2_provider.models import Application  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    Application.objects.create(
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=CALLBACK,
        skip_authorization=True,
        algorithm=Application.RS256_ALGORITHM,
    )
    call_command("runserver", f"localhost:{port}", use_reloader=False, skip_checks=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
