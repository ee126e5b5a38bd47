"""Registers an API client."""

from urllib.parse import urlsplit

from accounts.models import Application
from accounts.oauth import OUT_OF_BAND
from accounts.oauth_parameters import LONGEST_SCOPE, clean_scope
from accounts.scopes import unknown_scopes
from accounts.types import NewApplication
from infra.api.errors import Fault, ValidationFailed

NAME_LENGTH = 60
URI_LENGTH = 2_000
MOST_URIS = 10
# A browser would run or open these itself instead of starting an application.
REFUSED_SCHEMES = {"", "javascript", "data", "vbscript", "file", "blob", "about", "view-source"}


def register_application(new: NewApplication) -> tuple[Application, str]:
    """The new application and its secret in clear, which is shown once. Raises ValidationFailed."""
    faults = [*_name_faults(new), *_uri_faults(new), *_scope_faults(new)]
    if faults:
        raise ValidationFailed(faults)
    application = Application(
        name=new.name,
        website=new.website,
        redirect_uris=" ".join(new.redirect_uris.split()),
        scopes=clean_scope(new.scopes),
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
    )
    secret = application.client_secret  # save() hashes it
    application.save(force_insert=True)
    return application, secret


def _name_faults(new: NewApplication) -> list[Fault]:
    if not new.name.strip():
        return [Fault("name", "ERR_BLANK", "can't be blank")]
    if len(new.name) > NAME_LENGTH:
        text = f"is too long (maximum is {NAME_LENGTH} characters)"
        return [Fault("name", "ERR_TOO_LONG", text)]
    return []


def _uri_faults(new: NewApplication) -> list[Fault]:
    faults = []
    if not new.redirect_uris.strip():
        faults.append(Fault("redirect_uri", "ERR_BLANK", "can't be blank"))
    uris = new.redirect_uris.split()
    if len(uris) > MOST_URIS:
        text = f"has too many addresses (maximum is {MOST_URIS})"
        faults.append(Fault("redirect_uri", "ERR_TOO_LONG", text))
    elif not all(map(_is_redirect_uri, uris)):
        faults.append(Fault("redirect_uri", "ERR_INVALID", "must be an absolute URI."))
    if new.website and not is_website(new.website):
        faults.append(Fault("website", "ERR_INVALID", "must be a valid URL"))
    return faults


def _scope_faults(new: NewApplication) -> list[Fault]:
    if len(new.scopes) > LONGEST_SCOPE:
        text = f"is too long (maximum is {LONGEST_SCOPE} characters)"
        return [Fault("scopes", "ERR_TOO_LONG", text)]
    if new.scopes.split() and not unknown_scopes(new.scopes):
        return []
    return [Fault("scopes", "ERR_INVALID", "doesn't match configured on the server.")]


def _is_redirect_uri(uri: str) -> bool:
    if len(uri) > URI_LENGTH or "#" in uri:
        return False
    scheme, host = _scheme_and_host(uri)
    if scheme in {"http", "https"}:
        return bool(host)
    return scheme not in REFUSED_SCHEMES and (scheme != "urn" or uri == OUT_OF_BAND)


def is_website(url: str) -> bool:
    """Whether it is the address of a page: of http or https, with at most URI_LENGTH characters."""
    scheme, host = _scheme_and_host(url)
    return len(url) <= URI_LENGTH and scheme in {"http", "https"} and bool(host)


def _scheme_and_host(uri: str) -> tuple[str, str]:
    try:
        parts = urlsplit(uri)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""
