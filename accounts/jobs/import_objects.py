"""Finds the objects that an import names, and creates those that are not there."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from accounts.actions.declare_object_kind import declare_object_kind
from accounts.identities.actions.create_objects import create_objects
from accounts.identities.queries import AccountDirectory
from accounts.identities.types import OBJECTS, WantedAccount
from accounts.models import DISPLAY_NAME_LENGTH
from accounts.queries.object_kinds import OBJECT_KIND_NAME, known_object_kinds
from accounts.types import ProfileEdit, ServiceObject
from infra.languages import ENGLISH

NOT_CREATED = 0


class ObjectDirectory:
    """Account ids of objects by external id, for a run that asks for the same ones often."""

    def __init__(self) -> None:
        self._accounts: dict[str, AccountDirectory] = {}

    def load(self, kind: str, ids: Collection[str], creates: bool) -> Mapping[str, int]:
        """Those that exist, and those that are created; the kind is declared if it is not. Without
        `creates` nothing is written, and the id of a new one is NOT_CREATED.

        A new object has its id as its title, until its service sends another. Raises:
        TooManyDeclared. Safety: idempotent. Cost: one query for ids that were not seen; for new
        objects as `create_objects`.
        """
        directory = self._accounts.setdefault(kind, AccountDirectory(f"{OBJECTS}{kind}"))
        known = directory.load(ids)
        missing = [external_id for external_id in ids if external_id not in known]
        if not creates:
            return known | dict.fromkeys(missing, NOT_CREATED)
        if not missing:
            return known
        if not _is_declared(kind):
            declare_object_kind(kind, {ENGLISH: kind})
        create_objects(kind, {i: _wanted(kind, i) for i in missing}, datetime.now(UTC))
        return directory.load(ids)


def find_fault_of_kind(kind: str) -> str:
    """Why no object can have this kind; empty: it can."""
    if OBJECT_KIND_NAME.fullmatch(kind):
        return ""
    return f"{kind!r} is no kind of objects: a-z, 0-9 and _, at most 15"


def _is_declared(kind: str) -> bool:
    return known_object_kinds.find(lambda each: each.name == kind) is not None


def _wanted(kind: str, external_id: str) -> WantedAccount:
    title = external_id[:DISPLAY_NAME_LENGTH]
    return WantedAccount(None, ProfileEdit(title, service_object=ServiceObject(kind, external_id)))
