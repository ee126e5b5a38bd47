"""What an account does to another: follows, answers, blocks, mutes, endorsements and notes."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.errors import Fault, ValidationFailed
from infra.api.nested import find_texts
from infra.api.parsing import find_flag, read_count, read_text
from infra.api.request import ApiRequest
from relations.actions.block import block, unblock
from relations.actions.endorse import endorse, stop_endorsing
from relations.actions.follow import (
    approve_request,
    end_follow,
    follow,
    reject_request,
    remove_follower,
)
from relations.actions.mute import LONGEST_MUTE_S, mute, unmute
from relations.actions.undo import undo, undo_of_mute, undo_of_unfollow
from relations.actions.write_note import LONGEST_NOTE, write_note
from relations.api import schema
from relations.api.views.relationships import answer_relationship
from relations.languages import check_languages
from relations.types import FollowOptions

TOO_LONG = f"is too long (maximum is {LONGEST_NOTE} characters)"


class FollowView(Endpoint):
    """Follow an account, or change the options of a follow. Options that are not sent stay.

    A locked account must approve the follow first: `requested` is true until then.
    """

    scopes = {"POST": "write:follows"}

    @extend_schema(request=schema.FollowOptionsBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        follow(request.account_id, account_id, _options(request))
        return answer_relationship(request, account_id)


class UnfollowView(Endpoint):
    """Unfollow an account, or take a follow request back.

    The header `X-Undo` has a text for `…/undo`, for a minute.
    """

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        ended = end_follow(request.account_id, account_id)
        answer = answer_relationship(request, account_id)
        if ended is not None:
            answer[schema.UNDO] = undo_of_unfollow(request.account_id, account_id, ended)
        return answer


class RemoveFollowerView(Endpoint):
    """Remove an account from my followers."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        remove_follower(request.account_id, account_id)
        return answer_relationship(request, account_id)


class AuthorizeRequestView(Endpoint):
    """Approve a follow request."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        approve_request(request.account_id, account_id)
        return answer_relationship(request, account_id)


class RejectRequestView(Endpoint):
    """Reject a follow request. The account may ask again."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        reject_request(request.account_id, account_id)
        return answer_relationship(request, account_id)


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
    """Mute an account, for a while or until it is unmuted. A duration of 0 has no end.

    The header `X-Undo` has a text for `…/undo`, for a minute.
    """

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=schema.MuteOptionsBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        duration_s = read_count(request.data, "duration", LONGEST_MUTE_S)
        hides_notifications = find_flag(request.data, "notifications") is not False
        before = mute(request.account_id, account_id, duration_s, hides_notifications)
        answer = answer_relationship(request, account_id)
        answer[schema.UNDO] = undo_of_mute(request.account_id, account_id, before)
        return answer


class UnmuteView(Endpoint):
    """Unmute an account."""

    scopes = {"POST": "write:mutes"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        unmute(request.account_id, account_id)
        return answer_relationship(request, account_id)


class UndoView(Endpoint):
    """Take an unfollow or a mute back, with the text of its answer (`X-Undo`).

    A follow comes back as it was: its options, its date, its places on lists; the other account
    is not asked again. 404 if a minute has passed, or if something else has happened since.
    """

    scopes = {"POST": "write:follows"}

    @extend_schema(request=schema.UndoBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        undo(request.account_id, account_id, read_text(request.data, "undo"))
        return answer_relationship(request, account_id)


class EndorseView(Endpoint):
    """Show an account that I follow on my profile, until I unfollow it."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        endorse(request.account_id, account_id)
        return answer_relationship(request, account_id)


class UnendorseView(Endpoint):
    """Stop showing an account on my profile."""

    scopes = {"POST": "write:accounts"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        stop_endorsing(request.account_id, account_id)
        return answer_relationship(request, account_id)


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


def _options(request: ApiRequest) -> FollowOptions:
    """Raises: InvalidRequest, ValidationFailed."""
    languages = find_texts(request.data, "languages")
    return FollowOptions(
        quiet=find_flag(request.data, "quiet"),
        special=find_flag(request.data, "special"),
        reposts=find_flag(request.data, "reblogs"),
        notify=find_flag(request.data, "notify"),
        languages=None if languages is None else check_languages(filter(None, languages)),
    )
