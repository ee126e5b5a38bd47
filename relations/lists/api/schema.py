"""The JSON of account lists, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import BooleanField, CharField, ChoiceField, ListField, Serializer

from relations.lists.actions.members import MOST_MEMBERS
from relations.lists.api.parse import POLICIES
from relations.lists.models import LONGEST_TITLE

POLICY_HELP = (
    "Which replies of members are shown, besides replies to me and to themselves: replies to"
    " accounts I follow, to members, or none"
)
ACCOUNT_IDS = OpenApiParameter(
    "account_ids[]",
    OpenApiTypes.STR,
    many=True,
    description="The accounts to remove; may be sent in the body instead",
)


class ListEntity(Serializer[Any]):
    id = CharField()
    title = CharField(max_length=LONGEST_TITLE)
    replies_policy = ChoiceField(choices=list(POLICIES), help_text=POLICY_HELP)
    exclusive = BooleanField(help_text="Always false")


class NewListBody(Serializer[Any]):
    title = CharField(max_length=LONGEST_TITLE)
    replies_policy = ChoiceField(
        choices=list(POLICIES), required=False, default="list", help_text=POLICY_HELP
    )
    exclusive = BooleanField(required=False, default=False, help_text="True is refused")


class ListChangeBody(NewListBody):
    title = CharField(max_length=LONGEST_TITLE, required=False)


class ListedAccountsBody(Serializer[Any]):
    account_ids = ListField(child=CharField(), max_length=MOST_MEMBERS)
