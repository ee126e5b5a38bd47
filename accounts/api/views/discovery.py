"""The documents under /.well-known, NodeInfo, and the claims about the caller."""

from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.api import discovery
from accounts.api.instance import domain
from accounts.errors import AccountNotFound
from accounts.queries.load import get_account_json
from accounts.queries.site_counts import get_site_counts
from accounts.queries.users import find_account_id
from infra.api.endpoint import Endpoint
from infra.api.errors import TidelineError
from infra.api.openapi import error_response
from infra.api.rendering import json_response
from infra.api.request import ApiRequest

JRD = {"Content-Type": "application/jrd+json; charset=utf-8"}
XRD = {"Content-Type": "application/xrd+xml; charset=utf-8"}
RESOURCE = OpenApiParameter(
    "resource",
    {"type": "string", "pattern": r"^([\s\S]*@|https?://)[\s\S]*$"},
    required=True,
    description="`acct:ann@host` of this host, or the address of a profile",
)
# The paths of an account's `url` and `uri`.
_PROFILES = ("/@", "/users/")
_ADDRESSES = ("http://", "https://")


class ResourceMalformed(TidelineError):
    """The status is that of RFC 7033."""

    status = 400
    text = "resource must be acct:name@host or the address of a profile"


class NodeInfoLinksView(Endpoint):
    """Where the NodeInfo documents are."""

    public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(discovery.present_nodeinfo_links())


class NodeInfoView(Endpoint):
    """What software this is, and how many people use it."""

    public = True
    version: ClassVar[str] = ""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(discovery.present_nodeinfo(self.version, get_site_counts()))


class HostMetaView(Endpoint):
    """Where WebFinger is, as XML."""

    public = True

    @extend_schema(responses={(200, "application/xrd+xml"): OpenApiTypes.STR})
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(discovery.present_host_meta().encode(), headers=XRD)


class HostMetaJsonView(Endpoint):
    """Where WebFinger is, as JSON."""

    public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(discovery.present_host_meta_json())


class WebFingerView(Endpoint):
    """The profile of an account of this server."""

    public = True

    @extend_schema(
        parameters=[RESOURCE],
        responses={
            (200, "application/jrd+json"): OpenApiTypes.OBJECT,
            400: error_response(ResourceMalformed.text),
            404: error_response("No account of this server has this name"),
        },
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        """Raises: ResourceMalformed, AccountNotFound."""
        account_id = find_account_id(_username_of(request.query_params.get("resource", "")))
        if account_id is None:
            raise AccountNotFound
        account = orjson.loads(get_account_json(account_id))
        return _answer(discovery.present_webfinger(account), JRD)


class AuthorizationServerView(Endpoint):
    """Where the endpoints of OAuth2 are, and what they can do."""

    public = True

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(discovery.present_authorization_server())


@extend_schema(exclude=True)
class UserInfoView(Endpoint):
    """The caller's name and picture, for programs that use this server to sign people in."""

    scopes = {"GET": "profile", "POST": "profile"}

    def get(self, request: ApiRequest) -> HttpResponse:
        account = orjson.loads(get_account_json(request.account_id, is_own=True))
        return _answer(discovery.present_user_info(account))

    def post(self, request: ApiRequest) -> HttpResponse:
        """The same: OpenID Connect allows both."""
        return self.get(request)


def _answer(body: dict[str, Any], headers: dict[str, str] | None = None) -> HttpResponse:
    return json_response(orjson.dumps(body), headers=headers)


def _username_of(resource: str) -> str:
    """Empty for a resource of another server. Raises ResourceMalformed."""
    for prefix in _PROFILES:
        if resource.startswith(own := f"{settings.PUBLIC_URL}{prefix}"):
            return resource.removeprefix(own)
    if resource.startswith(_ADDRESSES):
        return ""
    if "@" not in resource:
        raise ResourceMalformed
    name, _, host = resource.removeprefix("acct:").removeprefix("@").partition("@")
    return name if host.lower() == domain() else ""
