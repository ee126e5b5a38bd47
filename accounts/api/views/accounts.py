"""Sign-up, and accounts as all viewers see them."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.actions.sign_up import sign_up_with_token
from accounts.api import schema
from accounts.api.present import present_token
from accounts.api.quotas import SIGN_UPS
from accounts.errors import AccountNotFound
from accounts.queries.load import get_account_json, load_account_json
from accounts.queries.users import find_account_id
from accounts.types import NewUser
from infra.api.endpoint import Endpoint
from infra.api.errors import Fault, InvalidRequest, ValidationFailed
from infra.api.ids import parse_account_ids
from infra.api.openapi import error_response
from infra.api.parsing import read_flag, read_text
from infra.api.rendering import NO_STORE, json_response
from infra.api.request import ApiRequest
from infra.languages import is_language


class AccountsView(Endpoint):
    """Sign up with an application's own token; read accounts by their ids."""

    scopes = {"GET": "read:accounts", "POST": "write:accounts"}
    public = True
    needs_user = False

    @extend_schema(parameters=[schema.ID_LIST], responses=schema.AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        """Accounts in the order of the ids; unknown ids are left out."""
        texts = request.id_list
        if len(texts) > schema.MOST_ACCOUNTS:
            raise InvalidRequest(f"At most {schema.MOST_ACCOUNTS} accounts at once")
        ids = dict.fromkeys(parse_account_ids(texts))
        accounts = load_account_json(ids)
        return json_response(b"[%b]" % b",".join(accounts[i] for i in ids if i in accounts))

    @extend_schema(request=schema.NewAccountBody, responses=schema.TokenEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Creates a user and issues the application a token for this user."""
        SIGN_UPS.charge(request._request)
        token = sign_up_with_token(_new_user(request), request.user.token_id, datetime.now(UTC))
        return json_response(orjson.dumps(present_token(token)), headers=NO_STORE)


class AccountView(Endpoint):
    """One account. The owner's own counts include quiet follows."""

    scopes = {"GET": "read:accounts"}
    public = True
    is_quick = True

    @extend_schema(responses=schema.AccountEntity)
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        return json_response(get_account_json(account_id, is_own=account_id == request.viewer_id))


class LookupView(Endpoint):
    """One account by its name."""

    scopes = {"GET": "read:accounts"}
    public = True

    @extend_schema(
        parameters=[schema.LOOKUP],
        responses={200: schema.AccountEntity, 404: error_response("No account has this name")},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        account_id = find_account_id(_local_name(request.query_params.get("acct", "")))
        if account_id is None:
            raise AccountNotFound
        return json_response(get_account_json(account_id, is_own=account_id == request.viewer_id))


def _new_user(request: ApiRequest) -> NewUser:
    for name, most in schema.SIGN_UP_LENGTHS.items():  # also of what no one needs
        if len(read_text(request.data, name)) > most:
            fault = f"is too long (maximum is {most} characters)"
            raise ValidationFailed([Fault(name, "ERR_TOO_LONG", fault)])
    return NewUser(
        username=read_text(request.data, "username"),
        email=read_text(request.data, "email"),
        password=read_text(request.data, "password"),
        agreement=read_flag(request.data, "agreement"),
        language=_language_of(read_text(request.data, "locale")),
    )


def _language_of(locale: str) -> str:
    """Of `de` or `de-AT`; empty if pages and mails do not speak it."""
    code = locale.partition("-")[0].lower()
    return code if is_language(code) else ""


def _local_name(address: str) -> str:
    """The username of `ann`, `@ann` or `ann@here`; empty for an address of another site."""
    name, _, host = address.removeprefix("@").partition("@")
    return name if host.lower() in {"", urlsplit(settings.PUBLIC_URL).netloc} else ""
