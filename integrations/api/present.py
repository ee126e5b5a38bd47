"""The JSON of the change feed and of accounts by external ids."""

from typing import Any

from accounts.identities.types import BoundAccount, ProvisionedAccount
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
