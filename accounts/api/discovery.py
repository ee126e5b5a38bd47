"""Documents with which programs find out what this server is and where its endpoints are."""

from collections.abc import Mapping
from html import escape
from typing import Any

from django.conf import settings

from accounts.api.instance import domain
from accounts.oauth_parameters import CHALLENGE_METHODS, JWT_BEARER
from accounts.queries.site_counts import SiteCounts
from accounts.scopes import DESCRIPTIONS
from infra.version import VERSION

NODEINFO_VERSIONS = ("2.0", "2.1")
_SCHEMA = "http://nodeinfo.diaspora.software/ns/schema"
_PROFILE_PAGE = "http://webfinger.net/rel/profile-page"
_HOST_META = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">'
    '<Link rel="lrdd" template="{}"/></XRD>\n'
)


def present_nodeinfo_links() -> dict[str, Any]:
    """The document of /.well-known/nodeinfo."""
    url = settings.PUBLIC_URL
    return {
        "links": [
            {"rel": f"{_SCHEMA}/{version}", "href": f"{url}/nodeinfo/{version}"}
            for version in NODEINFO_VERSIONS
        ]
    }


def present_nodeinfo(version: str, counts: SiteCounts) -> dict[str, Any]:
    """The NodeInfo document. `protocols` is empty, because this server does not federate.

    `upstream` is how servers with Mastodon's API name it: clients choose their code by it.
    """
    return {
        "version": version,
        "software": {"name": "tideline", "version": VERSION},
        "protocols": [],
        "services": {"inbound": [], "outbound": []},
        "usage": {"users": {"total": counts.users}, "localPosts": counts.posts},
        "openRegistrations": True,
        "metadata": {"nodeName": settings.INSTANCE_TITLE, "upstream": {"name": "mastodon"}},
    }


def present_host_meta() -> str:
    """The XML document of /.well-known/host-meta (RFC 6415)."""
    return _HOST_META.format(escape(_webfinger_template()))


def present_host_meta_json() -> dict[str, Any]:
    return {"links": [{"rel": "lrdd", "template": _webfinger_template()}]}


def present_webfinger(account: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON resource descriptor of an account (RFC 7033)."""
    page = {"rel": _PROFILE_PAGE, "type": "text/html", "href": account["url"]}
    return {
        "subject": f"acct:{account['username']}@{domain()}",
        "aliases": [account["url"], account["uri"]],
        "links": [page],
    }


def present_authorization_server() -> dict[str, Any]:
    """The metadata of the OAuth2 server (RFC 8414)."""
    url = settings.PUBLIC_URL
    grants = ["authorization_code", "client_credentials", "refresh_token", JWT_BEARER]
    return {
        "issuer": url,
        "service_documentation": f"{url}/api/docs",
        "authorization_endpoint": f"{url}/oauth/authorize",
        "token_endpoint": f"{url}/oauth/token",
        "revocation_endpoint": f"{url}/oauth/revoke",
        "userinfo_endpoint": f"{url}/oauth/userinfo",
        "app_registration_endpoint": f"{url}/api/v1/apps",
        "scopes_supported": list(DESCRIPTIONS),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [
            *grants,
            *(["password"] if settings.ALLOW_PASSWORD_GRANT else []),
        ],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": CHALLENGE_METHODS,
        "authorization_response_iss_parameter_supported": True,
    }


def present_user_info(account: Mapping[str, Any]) -> dict[str, Any]:
    """The claims of OpenID Connect about the account, as Mastodon names them."""
    return {
        "iss": settings.PUBLIC_URL,
        "sub": account["uri"],
        "name": account["display_name"] or account["username"],
        "preferred_username": account["username"],
        "profile": account["url"],
        "picture": account["avatar"],
    }


def _webfinger_template() -> str:
    return f"{settings.PUBLIC_URL}/.well-known/webfinger?resource={{uri}}"
