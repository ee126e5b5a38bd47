"""Whom I mute."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import load_account_json
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response
from infra.api.parameters import PAGING
from infra.api.request import ApiRequest
from infra.clock import now_ms
from relations.api.act_schema import MutedAccountEntity
from relations.api.present_accounts import present_muted
from relations.api.views.edge_lists import read_page
from relations.queries.edge_lists import EdgeList
from relations.queries.edge_rows import muted_at, read_mute_ends


class MutesView(Endpoint):
    """Whom I mute, newest first, and until when."""

    scopes = {"GET": "read:mutes"}

    @extend_schema(parameters=PAGING, responses=MutedAccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        owner_id = request.account_id
        page = read_page(request, EdgeList(muted_at(now_ms())), owner_id)
        ids = [listed.account_id for listed in page.items]
        accounts, ends = load_account_json(ids), read_mute_ends(owner_id, ids)
        bodies = [present_muted(accounts[i], ends[i]) for i in ids if i in accounts]
        return page_response(request, Page(bodies, page.older, page.newer))
