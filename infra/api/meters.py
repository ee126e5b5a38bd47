"""What endpoints ask of a meter: it counts requests against the quotas of their callers.

The meters of a site are in its settings, because quotas belong to a higher floor.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from django.http import HttpRequest


class Charge(Protocol):
    """What a request takes of its caller's quota."""

    def settle(self) -> None:
        """A request that begins again calls it again. Raises: TooManyRequests; a read that asks for
        its quota in its next round trip is Refused then."""
        ...

    def headers(self) -> Mapping[str, str]:
        """The state of the quota, when the answer is ready."""
        ...


class Meter(Protocol):
    """Counts requests against a caller's quota."""

    def charge(self, request: HttpRequest, caller: Any) -> Charge | None: ...
