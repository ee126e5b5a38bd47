"""Reads the fields of a profile, in every form of infra.api.nested."""

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.actions.update_profile import MOST_FIELDS
from accounts.types import ProfileField
from infra.api.errors import Fault, ValidationFailed
from infra.api.nested import find_objects
from infra.api.parsing import read_text

NAME = "fields_attributes"


def find_fields(data: Mapping[str, Any]) -> Sequence[ProfileField] | None:
    """All fields that the profile shall have, without empty ones. None if the request has none.

    Raises: InvalidRequest; ValidationFailed for too many, or a value without a name.
    """
    sent = find_objects(data, NAME)
    if sent is None:
        return None
    if len(sent) > MOST_FIELDS:
        text = f"must be at most {MOST_FIELDS} fields"
        raise ValidationFailed([Fault(NAME, "ERR_TOO_LONG", text)])
    fields = [
        ProfileField(read_text(pair, "name").strip(), read_text(pair, "value").strip())
        for pair in sent
    ]
    if any(field.value and not field.name for field in fields):
        raise ValidationFailed([Fault(NAME, "ERR_BLANK", "must have a name for each value")])
    return [field for field in fields if field.name]
