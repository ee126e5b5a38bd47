"""Reads which accounts a service wants, and provisions several of them."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import structlog

from accounts.identities.types import ExternalId, WantedAccount
from accounts.types import ProfileEdit
from infra.api.answers import UNAVAILABLE
from infra.api.errors import InvalidRequest, TidelineError
from infra.api.nested import find_objects
from infra.api.parsing import find_flag, find_text
from infra.sharding.errors import NO_ANSWER
from infra.store_states import state_of
from integrations.actions import WantedState, provision
from integrations.api import schema
from integrations.api.present import present_provisioned

# After this time the rest of a list is refused, so that the answer is not late.
LIST_S = 10.0
_EXTERNAL_ID = re.compile(schema.EXTERNAL_ID_PATTERN)
_FLAGS = {
    "locked": "is_locked",
    "bot": "is_bot",
    "discoverable": "is_discoverable",
    "indexable": "is_indexable",
    "hide_collections": "hides_collections",
}
_TEXTS = ("display_name", "note")
_FIELDS = {"username", "active", *_TEXTS, *_FLAGS}
T = TypeVar("T")
log = structlog.get_logger()


def check_external_id(text: object) -> str:
    """Raises: InvalidRequest."""
    if not isinstance(text, str) or not _EXTERNAL_ID.fullmatch(text):
        raise InvalidRequest(
            "external_id must have 1 to 255 ASCII characters without blanks and slashes,"
            " and no dot at its beginning"
        )
    return text


def read_wanted(data: Mapping[str, Any]) -> WantedState:
    """Raises: InvalidRequest, also for a field that no account has, and for a profile of an account
    that shall be inactive: it would not be written."""
    if unknown := data.keys() - _FIELDS:
        raise InvalidRequest(f"{min(unknown)[:40]} is no field of an account")
    texts = {name: _find_stripped(data, name) for name in _TEXTS}
    flags = {attribute: find_flag(data, name) for name, attribute in _FLAGS.items()}
    edit = ProfileEdit(**texts, **flags)  # type: ignore[arg-type]
    is_active = find_flag(data, "active")
    if is_active is False and data.keys() != {"active"}:
        raise InvalidRequest(
            "active: false comes alone: the profile is sent when it is active again"
        )
    return WantedState(WantedAccount(find_text(data, "username"), edit), is_active)


def _find_stripped(data: Mapping[str, Any], name: str) -> str | None:
    text = find_text(data, name)
    return None if text is None else text.strip()


def read_wanted_list(data: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The objects of the list, of which several may be the same account. What is wrong in one of
    them is its own answer.

    Raises: InvalidRequest.
    """
    sent = find_objects(data, "accounts") or ()
    if not 0 < len(sent) <= schema.MOST_WANTED:
        raise InvalidRequest(f"accounts must be a list of 1 to {schema.MOST_WANTED} accounts")
    for each in sent:
        check_external_id(each.get("external_id"))
    return sent


def provision_each(sent: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One answer for each. Cost: that of `provision` for each, for about LIST_S."""

    def provision_one(each: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: value for name, value in each.items() if name != "external_id"}
        identity = ExternalId(each["external_id"])
        return present_provisioned(provision(identity, read_wanted(fields), datetime.now(UTC)))

    for each, outcome in zip(sent, try_each(sent, provision_one), strict=True):
        yield {"external_id": each["external_id"]} | outcome


def try_each(sent: Iterable[T], act: Callable[[T], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What `act` answers for each, with the `status` of a request of its own. What is left after
    LIST_S is refused."""
    ends_at = time.monotonic() + LIST_S
    for each in sent:
        yield _unavailable() if time.monotonic() > ends_at else _try(act, each)


def _try(act: Callable[[T], dict[str, Any]], each: T) -> dict[str, Any]:
    try:
        return {"status": 200} | act(each)
    except TidelineError as error:
        return {"status": error.status} | error.body()
    except NO_ANSWER as error:
        log.error(
            "provisioning.database_unavailable", state=state_of(error).label, error=str(error)
        )
        return _unavailable()


def _unavailable() -> dict[str, Any]:
    return {"status": 503, "error": UNAVAILABLE}
