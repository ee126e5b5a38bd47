"""Values of Web Push."""

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

# The purpose of sealed access tokens. Clients need the token in each message, to know which of
# their accounts it is for.
TOKENS = "notifications.push"
# Bits, so the order stays. The types of Mastodon, of which some never happen here, and `reaction`.
ALERTS = (
    "mention", "status", "reblog", "follow", "follow_request", "favourite", "poll", "update",
    "quote", "quoted_update", "admin.sign_up", "admin.report", "moderation_warning",
    "reaction",
)  # fmt: skip


class PushAudience(IntEnum):
    """Of which accounts the notifications are pushed. Stored as a number."""

    ALL = 0
    FOLLOWED = 1
    FOLLOWER = 2
    NONE = 3

    @property
    def public(self) -> str:
        """The name in the API."""
        return self.name.lower()


AUDIENCE_BY_NAME = {audience.public: audience for audience in PushAudience}


class PushTarget(NamedTuple):
    """Where a subscription sends to. The receiver's public key and shared secret are base64."""

    endpoint: str
    p256dh: str
    auth: str
    is_standard: bool


class PushWishes(NamedTuple):
    """What a subscription sends: `alerts` as bits."""

    alerts: int = 0
    audience: PushAudience = PushAudience.ALL

    def wants(self, alert: str) -> bool:
        return bool(self.alerts >> ALERTS.index(alert) & 1)


class Subscription(NamedTuple):
    """A subscription as its shard has it."""

    account_id: int
    token_id: int
    target: PushTarget
    wishes: PushWishes
    sealed_token: bytes


def alert_bits(names: Iterable[str]) -> int:
    """Example: mention and reblog are 5."""
    return sum(1 << ALERTS.index(name) for name in names)
