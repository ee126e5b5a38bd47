"""Block and unblock, mute and unmute."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.parsing import find_flag, read_count
from infra.api.request import ApiRequest
from relations.actions.block import block, unblock
from relations.actions.mute import LONGEST_MUTE_S, mute, unmute
from relations.api import schema
from relations.api.views.relationships import answer_relationship


class BlockView(Endpoint):
    """Block an account: ends the follows in both directions and forbids new ones."""

    scopes = {"POST": "write:blocks"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        block(request.account_id, account_id)
        return answer_relationship(request, account_id)


class UnblockView(Endpoint):
    """Unblock an account. Ended follows do not come back."""

    scopes = {"POST": "write:blocks"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        unblock(request.account_id, account_id)
        return answer_relationship(request, account_id)


class MuteView(Endpoint):
    """Mute an account, for a while or until it is unmuted. A duration of 0 has no end."""

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=schema.MuteOptionsBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        duration_s = read_count(request.data, "duration", LONGEST_MUTE_S)
        hides_notifications = find_flag(request.data, "notifications") is not False
        mute(request.account_id, account_id, duration_s, hides_notifications)
        return answer_relationship(request, account_id)


class UnmuteView(Endpoint):
    """Unmute an account."""

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        unmute(request.account_id, account_id)
        return answer_relationship(request, account_id)
