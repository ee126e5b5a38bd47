"""Endpoints of services that own objects: recipes, shops, courses.

An object is an account to which no person signs in (decision 0112).
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.actions.declare_object_kind import declare_object_kind
from accounts.identities.actions.create_objects import create_objects
from accounts.identities.actions.provision_account import NO_EDIT, changes_of
from accounts.identities.errors import IdentityUnknown
from accounts.identities.queries import find_bound_account, load_by_external_id
from accounts.identities.types import OBJECTS, BoundAccount, ExternalId, WantedAccount
from accounts.queries.object_kinds import OBJECT_KIND_NAME, list_object_kinds
from accounts.queries.profiles import find_profile, load_profiles
from accounts.types import Profile
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest, TidelineError
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from integrations.actions import delete_account, provision
from integrations.api import schema
from integrations.api.object_fields import (
    SentObject,
    identity_of,
    read_custom,
    read_object,
    read_object_list,
)
from integrations.api.present import present_object
from integrations.api.provisioning import try_each
from integrations.api.views import refuse_accounts
from integrations.api.words import read_words
from posts.actions.check_own_data import find_custom


class ObjectKindsView(Endpoint):
    """The kinds of objects that services declared, by name. Only for services."""

    scopes = {"GET": "service:accounts"}
    needs_user = False

    @extend_schema(responses=schema.DeclaredKindEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        kinds = list_object_kinds()
        return json_response(orjson.dumps([kind._asdict() for kind in kinds]))


class ObjectKindView(Endpoint):
    """A kind of objects. Only for services."""

    scopes = {"PUT": "service:accounts"}
    needs_user = False

    @extend_schema(
        parameters=[schema.KIND_NAME],
        request=schema.WordsBody,
        responses=schema.DeclaredKindEntity,
    )
    def put(self, request: ApiRequest, kind: str) -> HttpResponse:
        """Declare it, or change its words. It may be repeated. At most 50, which stay."""
        refuse_accounts(request)
        if not OBJECT_KIND_NAME.fullmatch(kind):
            raise InvalidRequest("kind must be like recipe: a-z, 0-9 and _, at most 15")
        words = read_words(request.data)
        declare_object_kind(kind, words)
        return json_response(orjson.dumps({"name": kind, "words": words}))


class ObjectView(Endpoint):
    """An object of a service, by its kind and the service's own id. Only for services.

    PUT creates it or changes it, and may be repeated. Fields that are not sent stay as they are; an
    empty text takes `url` or `image` away. `account_id` is the account that people follow, and for
    which the service posts. `active`: false, alone, hides it and keeps its data, and true brings it
    back. DELETE hides it at once; its data and its followers go later, as of a deleted account.
    """

    scopes = {
        "GET": "service:accounts",
        "PUT": "service:accounts",
        "DELETE": "service:accounts",
    }
    needs_user = False

    @extend_schema(parameters=schema.OBJECT_NAMES, responses=schema.ObjectEntity)
    def get(self, request: ApiRequest, kind: str, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        account = find_bound_account(identity_of(kind, external_id))
        if account is None:
            raise IdentityUnknown
        return json_response(orjson.dumps(_present(kind, account)))

    @extend_schema(
        parameters=schema.OBJECT_NAMES,
        request=schema.WantedObjectBody,
        responses=schema.ProvisionedObjectEntity,
    )
    def put(self, request: ApiRequest, kind: str, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = identity_of(kind, external_id)
        sent = SentObject(kind, external_id, request.data)
        return json_response(orjson.dumps(_put(identity, sent, find_custom(request))))

    @extend_schema(parameters=schema.OBJECT_NAMES, responses={200: schema.ObjectEntity})
    def delete(self, request: ApiRequest, kind: str, external_id: str) -> HttpResponse:
        refuse_accounts(request)
        identity = identity_of(kind, external_id)
        deleted = delete_account(identity, datetime.now(UTC))
        return json_response(orjson.dumps(_present(kind, deleted)))


class ObjectsView(Endpoint):
    """Up to 1,000 objects at once, each as by a PUT of its own. One answer each, in the order sent.

    `status` of an answer is the one that its own PUT would have. Only for services.
    """

    scopes = {"PUT": "service:accounts"}
    needs_user = False
    operation_suffix = "_many"

    @extend_schema(
        request=schema.WantedObjectsBody, responses=schema.ObjectOutcomeEntity(many=True)
    )
    def put(self, request: ApiRequest) -> HttpResponse:
        refuse_accounts(request)
        sent = read_object_list(request.data)
        return json_response(orjson.dumps(list(_put_each(sent))))


def _put(identity: ExternalId, sent: SentObject, custom: str | None) -> dict[str, Any]:
    made = provision(identity, read_object(sent, custom), datetime.now(UTC))
    return _present(sent.kind, made.account) | {"created": made.is_new}


def _present(kind: str, account: BoundAccount) -> dict[str, Any]:
    """Raises: AccountNotReady. One query of its shard."""
    return present_object(kind, account, find_profile(account.account_id))


def _put_each(sent: Sequence[SentObject]) -> Iterator[dict[str, Any]]:
    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for kind in dict.fromkeys(each.kind for each in sent):
        answers |= _answer_at_once(kind, [each for each in sent if each.kind == kind])

    def put(each: SentObject) -> dict[str, Any]:
        answer = answers.pop(each.name, None)
        if answer is not None:
            return answer
        identity = identity_of(*each.name)
        return _put(identity, each, read_custom(each.fields))

    for each, outcome in zip(sent, try_each(sent, put), strict=True):
        yield {"kind": each.kind, "external_id": each.external_id} | outcome


def _answer_at_once(kind: str, sent: Sequence[SentObject]) -> dict[tuple[str, str], dict[str, Any]]:
    """The answers for new objects, which are created all at once, and for those that are as they
    were sent. Cost: as `create_objects`, a query, and one of each shard."""
    wanted = _readable(sent)
    created = create_objects(kind, wanted, datetime.now(UTC))
    accounts = load_by_external_id(wanted, f"{OBJECTS}{kind}")
    profiles = load_profiles(account.account_id for account in accounts.values())
    return {
        (kind, external_id): present_object(kind, account, profile)
        | {"created": external_id in created}
        for external_id, account in accounts.items()
        if (profile := profiles.get(account.account_id))
        and (external_id in created or _is_same(wanted[external_id], account, profile))
    }


def _is_same(wanted: WantedAccount, account: BoundAccount, profile: Profile) -> bool:
    """Whether nothing is left to do, and nothing to refuse."""
    has_name = wanted.username is None or wanted.username.lower() == account.username
    return has_name and not profile.restrictions and changes_of(profile, wanted.edit) == NO_EDIT


def _readable(sent: Sequence[SentObject]) -> dict[str, WantedAccount]:
    """Those without a fault that can be seen here, by external id; of several, the first. Without
    those that shall rest or come back."""
    wanted: dict[str, WantedAccount] = {}
    seen: set[str] = set()
    for each in sent:
        if each.external_id in seen:
            continue
        seen.add(each.external_id)
        try:
            identity_of(*each.name)
            state = read_object(each, read_custom(each.fields))
        except TidelineError:
            continue
        if state.is_active is None:
            wanted[each.external_id] = state.account
    return wanted
