"""Reads what a service sends about its objects."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from accounts.actions.register_application import URI_LENGTH, is_website
from accounts.identities.types import ExternalId, WantedAccount, id_of_object
from accounts.queries.object_kinds import require_object_kind
from accounts.types import ProfileEdit, ServiceObject
from infra.api.errors import InvalidRequest
from infra.api.nested import find_objects
from infra.api.parsing import find_flag, find_text, read_text
from integrations.actions import WantedState
from integrations.api import schema
from integrations.api.provisioning import check_external_id
from posts.actions.check_own_data import encode_custom

_NAMES = ("kind", "external_id")
_FIELDS = {"title", "username", "note", "url", "image", "custom", "locked", "active"}


class SentObject(NamedTuple):
    """An object of a list. `fields`: without the two names."""

    kind: str
    external_id: str
    fields: Mapping[str, Any]

    @property
    def name(self) -> tuple[str, str]:
        return self.kind, self.external_id


def identity_of(kind: str, external_id: str) -> ExternalId:
    """Raises: InvalidRequest, UnknownObjectKind. Cost: as `require_object_kind`."""
    identity = id_of_object(kind, check_external_id(external_id))
    require_object_kind(kind)
    return identity


def read_object(sent: SentObject, custom: str | None) -> WantedState:
    """`custom`: as `find_custom` gives it. Raises: InvalidRequest, also for a field that no object
    has, and for other fields with `active`: false, which would not be written."""
    data = sent.fields
    if unknown := data.keys() - _FIELDS:
        raise InvalidRequest(f"{min(unknown)[:40]} is no field of an object")
    is_active = find_flag(data, "active")
    if is_active is False and data.keys() != {"active"}:
        raise InvalidRequest("active: false comes alone: the rest is sent when it is active again")
    title, note = (_find_stripped(data, name) for name in ("title", "note"))
    if title == "":
        raise InvalidRequest("title can't be blank")
    links = {name: _find_link(data, name) for name in ("url", "image")}
    owned = ServiceObject(sent.kind, sent.external_id, **links, custom=custom)
    is_locked = find_flag(data, "locked")
    edit = ProfileEdit(title, note, is_locked=is_locked, service_object=owned)
    return WantedState(WantedAccount(find_text(data, "username"), edit), is_active)


def read_custom(fields: Mapping[str, Any]) -> str | None:
    """`custom` of an object of a list. Raises: InvalidDraft."""
    custom = fields.get("custom")
    return None if custom in (None, "") else encode_custom(custom)


def read_object_list(data: Mapping[str, Any]) -> Sequence[SentObject]:
    """The objects of the list, of which several may be the same one. What is wrong in the fields of
    one of them is its own answer. Raises: InvalidRequest."""
    sent = find_objects(data, "objects") or ()
    if not 0 < len(sent) <= schema.MOST_OBJECTS:
        raise InvalidRequest(f"objects must be a list of 1 to {schema.MOST_OBJECTS:,} objects")
    return [_named(each) for each in sent]


def _named(each: Mapping[str, Any]) -> SentObject:
    fields = {name: value for name, value in each.items() if name not in _NAMES}
    kind, external_id = read_text(each, "kind"), check_external_id(each.get("external_id"))
    return SentObject(kind, external_id, fields)


def _find_stripped(data: Mapping[str, Any], name: str) -> str | None:
    text = find_text(data, name)
    return None if text is None else text.strip()


def _find_link(data: Mapping[str, Any], name: str) -> str | None:
    """Empty: it has none. Raises: InvalidRequest."""
    link = _find_stripped(data, name)
    if link and not is_website(link):
        raise InvalidRequest(f"{name} must be an http address of at most {URI_LENGTH:,} characters")
    return link
