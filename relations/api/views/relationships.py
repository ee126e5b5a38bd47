"""Relationships of the caller with other accounts, and familiar followers."""

from collections.abc import Mapping, Sequence, Set

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.encode import hides_collections
from accounts.queries.load import find_existing, load_account_json
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.ids import parse_account_ids
from infra.api.nested import find_list
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.remembered_answers import remembered
from infra.clock import now_ms
from infra.moving import beginning_again
from relations.api import schema
from relations.api.present import (
    present_familiar,
    present_relationship,
    present_relationships,
)
from relations.queries.familiar import load_familiar_followers
from relations.queries.notes import load_notes
from relations.queries.relationships import (
    load_existing_relationships,
    load_relationships,
    read_relationship,
)


class RelationshipsView(Endpoint):
    """My relationships with up to 100 accounts, in the order asked, each once.

    Ids without an account are left out.
    """

    scopes = {"GET": "read:follows"}
    is_quick = True

    @extend_schema(parameters=[schema.ID_LIST], responses=schema.RelationshipEntity(many=True))
    @remembered
    def get(self, request: ApiRequest) -> HttpResponse:
        others = read_targets(request.id_list)
        relationships = load_existing_relationships(request.account_id, others)
        notes = load_notes(request.account_id, relationships)
        return json_response(present_relationships(relationships, now_ms(), notes))


class FollowedByView(Endpoint):
    """The ids of those of up to 100 accounts that follow me, in the order asked, each once."""

    scopes = {"POST": "read:follows"}
    for_frozen = True

    @extend_schema(request=schema.TargetsBody, responses=schema.ACCOUNT_IDS)
    def post(self, request: ApiRequest) -> HttpResponse:
        relationships = load_relationships(request.account_id, read_targets(_sent_ids(request)))
        followers = [
            str(other) for other, relationship in relationships.items() if relationship.follows_me
        ]
        return json_response(orjson.dumps(followers))


class FamiliarFollowersView(Endpoint):
    """By account: the accounts I follow that also follow it. In the order asked, each once."""

    scopes = {"GET": "read:follows"}

    @extend_schema(
        parameters=[schema.FAMILIAR_IDS], responses=schema.FamiliarFollowersEntity(many=True)
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        texts = request.id_list
        if len(texts) > schema.MOST_FAMILIAR_TARGETS:
            raise InvalidRequest(f"At most {schema.MOST_FAMILIAR_TARGETS} accounts at once")
        asked = read_targets(texts)
        known = find_existing(asked)
        familiar = load_familiar_followers(request.account_id, [i for i in asked if i in known])
        accounts = load_account_json(
            [*familiar, *(fan for fans in familiar.values() for fan in fans)]
        )
        hidden = {i for i, account in accounts.items() if hides_collections(account)}
        bodies = [
            present_familiar(target, (accounts[fan] for fan in fans if fan in accounts))
            for target, fans in without_hidden(familiar, hidden, request.account_id).items()
        ]
        return json_response(b"[%b]" % b",".join(bodies))


def without_hidden(
    familiar: Mapping[int, Sequence[int]], hidden: Set[int], viewer_id: int
) -> dict[int, list[int]]:
    """Familiar followers without what accounts hide: their followees and their followers.

    `hidden`: the accounts that do. The viewer sees its own followers.
    """
    return {
        target: [fan for fan in fans if fan not in hidden]
        if target not in hidden or target == viewer_id
        else []
        for target, fans in familiar.items()
    }


def read_targets(texts: Sequence[str]) -> list[int]:
    """The ids in order, each once, without texts that are no ids.

    Raises: InvalidRequest for more than 100.
    """
    if len(texts) > schema.MOST_TARGETS:
        raise InvalidRequest(f"At most {schema.MOST_TARGETS} accounts at once")
    return parse_account_ids(texts)


@beginning_again
def answer_relationship(request: ApiRequest, account_id: int) -> HttpResponse:
    """The relationship with an existing account, after a write."""
    relationship = read_relationship(request.account_id, account_id)
    notes = load_notes(request.account_id, {account_id: relationship})
    return json_response(present_relationship(account_id, relationship, now_ms(), notes))


def _sent_ids(request: ApiRequest) -> list[str]:
    """JSON may send numbers. Raises: InvalidRequest if there is none."""
    ids = find_list(request.data, "id")
    if (
        ids is None
        or request.data["id"] in (None, [])
        or not all(type(i) in {str, int} for i in ids)
    ):
        raise InvalidRequest("id must be a list of account ids")
    return [str(i) for i in ids]
