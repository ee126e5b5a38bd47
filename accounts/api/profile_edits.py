"""Reads a change of a profile. Parts of a profile that Tideline lacks are refused by name.

Reads the fields of a profile, in every form of infra.api.nested.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from accounts.actions.update_profile import MOST_FIELDS
from accounts.images.api.parse import is_data_url, read_data_url
from accounts.types import HOME_REPLIES, PRIVACIES, QUOTE_POLICIES, ProfileEdit, ProfileField
from infra.api.errors import Fault, InvalidRequest, ValidationFailed
from infra.api.nested import find_objects
from infra.api.parsing import find_flag, find_text, read_text
from infra.languages import find_language_code

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


# Of the source: those that have one of a few values.
_CHOICES: Mapping[str, Sequence[str]] = {
    "source[privacy]": PRIVACIES,
    "source[quote_policy]": QUOTE_POLICIES,
    "source[home_replies]": HOME_REPLIES,
}
# What every profile has. A client may send the same value, but no other one.
FIXED: Mapping[str, tuple[bool, str]] = {
    "group": (False, "can only be false"),
    "show_media": (True, "can only be true"),
    "show_media_replies": (True, "can only be true"),
    "show_featured": (True, "can only be true"),
}
# An empty value changes nothing, as in Mastodon.
PICTURES = ("avatar", "header")
# Empty values mean that a client clears what is not there.
UNSUPPORTED = (
    "fields",
    "attribution_domains",
    "avatar_description",
    "header_description",
)


def read_profile_edit(data: Mapping[str, Any]) -> ProfileEdit:
    """The fields that were sent, from JSON or a form. Raises ValidationFailed, InvalidRequest."""
    sent = dict(_flatten(data))
    faults = [*_fixed_faults(sent), *_unsupported_faults(sent), *_source_faults(sent)]
    faults += _picture_faults(sent)
    if faults:
        raise ValidationFailed(faults)
    return ProfileEdit(
        display_name=_find_stripped(data, "display_name"),
        note=_find_stripped(data, "note"),
        is_locked=find_flag(data, "locked"),
        is_bot=find_flag(data, "bot"),
        is_discoverable=find_flag(data, "discoverable"),
        is_indexable=find_flag(data, "indexable"),
        hides_collections=find_flag(data, "hide_collections"),
        fields=find_fields(data),
        privacy=find_text(sent, "source[privacy]") or None,
        sensitive=find_flag(sent, "source[sensitive]"),
        language=_find_language(sent),
        quote_policy=find_text(sent, "source[quote_policy]") or None,
        home_replies=find_text(sent, "source[home_replies]") or None,
    )


def _find_stripped(data: Mapping[str, Any], name: str) -> str | None:
    """Without blanks around it: as in Mastodon, blanks only are no text."""
    text = find_text(data, name)
    return None if text is None else text.strip()


def _flatten(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names as in a form: `source` of a JSON body becomes `source[privacy]` and others.

    Raises: InvalidRequest.
    """
    for name, value in data.items():
        if name == "source" and value is not None:
            if not isinstance(value, dict):
                raise InvalidRequest("source must be an object")
            yield from ((f"source[{part}]", inner) for part, inner in value.items())
        else:
            yield name, value


def _fixed_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name, (value, text) in FIXED.items():
        if find_flag(sent, name) not in (None, value):
            yield Fault(name, "ERR_INCLUSION", text)


def _source_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name, values in _CHOICES.items():
        if sent.get(name) not in (None, "", *values):
            yield Fault(name, "ERR_INCLUSION", f"must be one of {', '.join(values)}")
    if (language := _find_language(sent)) and find_language_code(language) is None:
        yield Fault("source[language]", "ERR_INCLUSION", "is not a language code")


def _find_language(sent: Mapping[str, Any]) -> str | None:
    """None: the language stays. Empty: the new posts have none."""
    name = "source[language]"
    text = (find_text(sent, name) or "") if name in sent else None
    return text and (find_language_code(text) or text)


def _unsupported_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name in UNSUPPORTED:
        values = [v for key, v in sent.items() if name in (key, key.partition("[")[0])]
        if not all(map(_is_empty, values)):
            yield Fault(name, "ERR_INCLUSION", "is not supported")


def find_picture(data: Mapping[str, Any], name: str) -> bytes | None:
    """The avatar or header: a file in a form, or a `data:` address. None: none was sent.

    Raises: ImageRefused.
    """
    sent = data.get(name)
    if isinstance(sent, UploadedFile):
        return sent.read()
    return read_data_url(sent) if isinstance(sent, str) and sent else None


def _picture_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name in PICTURES:
        value = sent.get(name)
        if not isinstance(value, UploadedFile) and not is_data_url(value) and not _is_empty(value):
            yield Fault(name, "ERR_INVALID", "must be a file in a form, or a data: address")


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return all(map(_is_empty, value)) if isinstance(value, list) else value in (None, "")
