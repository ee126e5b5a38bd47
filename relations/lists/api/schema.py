"""The JSON of account lists, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    IntegerField,
    ListField,
    RegexField,
    Serializer,
)

from infra.api.fields import OPTIONAL, FlagField, VisibleTextField, flag_parameter, ids_parameter
from relations.lists.actions.members import MOST_MEMBERS
from relations.lists.api.parse import POLICIES
from relations.lists.models import LONGEST_TITLE
from relations.lists.queries.lists import SAMPLE

POLICY_HELP = (
    "Which replies of members are shown, besides replies to me and to themselves: replies to"
    " accounts I follow, to members, or none"
)
WITH_MEMBERS = flag_parameter("with_members", "Say how many members each list has, and the newest")
ACCOUNT_IDS = ids_parameter("account_ids[]", MOST_MEMBERS)


class ListEntity(Serializer[Any]):
    id = CharField()
    title = CharField(max_length=LONGEST_TITLE)
    replies_policy = ChoiceField(choices=list(POLICIES), help_text=POLICY_HELP)
    exclusive = BooleanField(help_text="What members post is not at home")
    members_count = IntegerField(required=False, help_text="Only if members were asked for")
    sample_account_ids = ListField(
        child=CharField(), required=False, help_text=f"The newest members, at most {SAMPLE}"
    )


class NewListBody(Serializer[Any]):
    title = VisibleTextField(max_length=LONGEST_TITLE)
    replies_policy = ChoiceField(choices=list(POLICIES), help_text=POLICY_HELP, **OPTIONAL)
    exclusive = FlagField(help_text="What members post is not at home", **OPTIONAL)


class ListChangeBody(NewListBody):
    title = VisibleTextField(max_length=LONGEST_TITLE, **OPTIONAL)


class ListedAccountsBody(Serializer[Any]):
    account_ids = ListField(
        child=RegexField(r"^[0-9]{1,10}$"), min_length=1, max_length=MOST_MEMBERS
    )
