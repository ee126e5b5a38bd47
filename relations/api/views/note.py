"""Private notes about accounts."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.errors import Fault, ValidationFailed
from infra.api.parsing import read_text
from infra.api.request import ApiRequest
from relations.actions.write_note import LONGEST_NOTE, write_note
from relations.api import schema
from relations.api.views.relationships import answer_relationship

TOO_LONG = f"is too long (maximum is {LONGEST_NOTE} characters)"


class NoteView(Endpoint):
    """Replace my private note about an account. An empty text deletes it."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=schema.NoteBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        text = read_text(request.data, "comment").strip()
        if len(text) > LONGEST_NOTE:
            raise ValidationFailed([Fault("comment", "ERR_TOO_LONG", TOO_LONG)])
        require_account_row(account_id)
        write_note(request.account_id, account_id, text)
        return answer_relationship(request, account_id)
