"""The shapes of requests and answers about filters; only for the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    Field,
    ListField,
    RegexField,
    Serializer,
)

from infra.api.fields import OPTIONAL, FlagField, VisibleTextField, count_schema
from posts.filters.api.parse import LONGEST_EXPIRY_S
from posts.filters.models import LONGEST_KEYWORD, LONGEST_TITLE
from posts.filters.types import ACTIONS, CONTEXTS

_EXPIRY = "Seconds from now; null: the filter has no end"


@extend_schema_field(count_schema(LONGEST_EXPIRY_S))
class ExpiryField(Field[Any, Any, Any, Any]):
    """Seconds as a number or as text."""


class FilterKeywordEntity(Serializer[Any]):
    id = CharField()
    keyword = CharField()
    whole_word = BooleanField()


class FilterStatusEntity(Serializer[Any]):
    id = CharField()
    status_id = CharField()


class FilterHeadEntity(Serializer[Any]):
    id = CharField()
    title = CharField()
    context = ListField(child=ChoiceField(CONTEXTS))  # type: ignore[assignment]
    expires_at = DateTimeField(allow_null=True)
    filter_action = ChoiceField(ACTIONS)


class FilterEntity(FilterHeadEntity):
    keywords = FilterKeywordEntity(many=True)
    statuses = FilterStatusEntity(many=True)


class FilterResultEntity(Serializer[Any]):
    filter = FilterHeadEntity()
    keyword_matches = ListField(child=CharField(), allow_null=True)
    status_matches = ListField(child=CharField(), allow_null=True)


class PhraseFilterEntity(Serializer[Any]):
    id = CharField()
    phrase = CharField()
    context = ListField(child=ChoiceField(CONTEXTS))  # type: ignore[assignment]
    whole_word = BooleanField()
    expires_at = DateTimeField(allow_null=True)
    irreversible = BooleanField(help_text="Clients leave the posts out")


class NewKeywordBody(Serializer[Any]):
    keyword = VisibleTextField(max_length=LONGEST_KEYWORD)
    whole_word = FlagField(help_text="True if not sent", **OPTIONAL)


class KeywordEditBody(Serializer[Any]):
    keyword = VisibleTextField(max_length=LONGEST_KEYWORD, **OPTIONAL)
    whole_word = FlagField(**OPTIONAL)


class NewFilterBody(Serializer[Any]):
    title = VisibleTextField(max_length=LONGEST_TITLE)
    context = ListField(child=ChoiceField(CONTEXTS), min_length=1)  # type: ignore[assignment]
    filter_action = ChoiceField(ACTIONS, **OPTIONAL)
    expires_in = ExpiryField(help_text=_EXPIRY, **OPTIONAL)
    keywords_attributes = ListField(child=NewKeywordBody(), **OPTIONAL)


class FilterEditBody(NewFilterBody):
    title = VisibleTextField(max_length=LONGEST_TITLE, **OPTIONAL)
    context = ListField(child=ChoiceField(CONTEXTS), min_length=1, **OPTIONAL)


class NewFilterStatusBody(Serializer[Any]):
    status_id = RegexField("^[0-9]{15,24}$")


class NewPhraseFilterBody(Serializer[Any]):
    phrase = VisibleTextField(max_length=LONGEST_TITLE)
    context = ListField(child=ChoiceField(CONTEXTS), min_length=1)  # type: ignore[assignment]
    irreversible = FlagField(help_text="Clients leave the posts out", **OPTIONAL)
    whole_word = FlagField(help_text="True if not sent", **OPTIONAL)
    expires_in = ExpiryField(help_text=_EXPIRY, **OPTIONAL)


class PhraseFilterEditBody(NewPhraseFilterBody):
    phrase = VisibleTextField(max_length=LONGEST_TITLE, **OPTIONAL)
    context = ListField(child=ChoiceField(CONTEXTS), min_length=1, **OPTIONAL)
