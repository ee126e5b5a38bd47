"""Reads a change of a profile. Parts of a profile that Tideline lacks are refused by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from accounts.types import ProfileEdit
from infra.api.errors import Fault, ValidationFailed
from infra.api.parsing import find_flag, find_text

# What every profile has. A client may send the same value, but no other one.
FIXED: Mapping[str, tuple[bool, str]] = {
    "locked": (False, "can only be false: follows need no approval"),
    "discoverable": (True, "can only be true"),
    "indexable": (False, "can only be false"),
    "hide_collections": (False, "can only be false"),
    "source[sensitive]": (False, "can only be false: each post says it"),
}
# Empty values mean that a client clears what is not there.
UNSUPPORTED = ("avatar", "header", "fields", "fields_attributes", "attribution_domains")


def read_profile_edit(data: Mapping[str, Any]) -> ProfileEdit:
    """The fields that were sent, from JSON or a form. Raises ValidationFailed, InvalidRequest."""
    sent = dict(_flatten(data))
    faults = [*_fixed_faults(sent), *_unsupported_faults(sent)]
    if faults:
        raise ValidationFailed(faults)
    return ProfileEdit(
        display_name=find_text(data, "display_name"),
        note=find_text(data, "note"),
        is_locked=find_flag(data, "locked"),
        is_bot=find_flag(data, "bot"),
    )


def _flatten(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The names as in a form: `source` of a JSON body becomes `source[privacy]` and others."""
    for name, value in data.items():
        if name == "source" and isinstance(value, dict):
            yield from ((f"source[{part}]", inner) for part, inner in value.items())
        else:
            yield name, value


def _fixed_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name, (value, text) in FIXED.items():
        if find_flag(sent, name) not in (None, value):
            yield Fault(name, "ERR_INCLUSION", text)
    if sent.get("source[privacy]") not in (None, "", "public"):
        yield Fault("source[privacy]", "ERR_INCLUSION", "can only be public")
    if sent.get("source[language]") not in (None, ""):
        yield Fault("source[language]", "ERR_INCLUSION", "is not supported: each post says it")


def _unsupported_faults(sent: Mapping[str, Any]) -> Iterator[Fault]:
    for name in UNSUPPORTED:
        values = [v for key, v in sent.items() if key.partition("[")[0] == name]
        if not all(map(_is_empty, values)):
            yield Fault(name, "ERR_INCLUSION", "is not supported")


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    return all(map(_is_empty, value)) if isinstance(value, list) else value in (None, "")
