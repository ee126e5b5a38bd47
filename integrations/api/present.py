"""The JSON of the change feed, and of accounts and objects by external ids."""

from typing import Any

from accounts.identities.errors import AccountNotReady
from accounts.identities.types import BoundAccount, ProvisionedAccount
from accounts.types import Profile
from infra.api.sealed_json import seal
from integrations.positions import encode_position
from integrations.types import Event, EventPage


def present_page(page: EventPage) -> dict[str, Any]:
    return {
        "events": [present_event(event) for event in page.events],
        "position": encode_position(page.position),
        "has_more": page.has_more,
        "missing": [*page.missing],
    }


def present_event(event: Event) -> dict[str, Any]:
    """As the Standard Webhooks specification has it: `type`, `timestamp`, `data`."""
    return {
        "id": event.id,
        "type": event.type,
        "timestamp": event.happened_at,
        "data": event.data,
    }


def present_bound_account(account: BoundAccount) -> dict[str, Any]:
    return {
        "external_id": account.subject,
        "account_id": str(account.account_id),
        "username": account.username,
        "suspended": account.is_suspended,
    }


def present_provisioned(made: ProvisionedAccount) -> dict[str, Any]:
    return present_bound_account(made.account) | {"created": made.is_new}


def present_object(kind: str, account: BoundAccount, profile: Profile | None) -> dict[str, Any]:
    """Raises: AccountNotReady without its profile."""
    owned = None if profile is None else profile.service_object
    if profile is None or owned is None:
        raise AccountNotReady
    return {
        "account_id": str(account.account_id),
        "kind": kind,
        "external_id": account.subject,
        "username": account.username,
        "title": profile.display_name,
        "note": profile.note,
        "url": owned.url or None,
        "image": owned.image or None,
        "custom": None if owned.custom is None else seal(owned.custom),
        "locked": profile.is_locked,
        "suspended": account.is_suspended,
    }
