"""What keeps readers of deep pages of followers from taking a shard down (seed S3)."""

from math import ceil

from django.conf import settings

from infra.caching.rates import Rate
from relations.errors import TooManyDeepPages

deep_pages = Rate("deep-pages", settings.DEEP_PAGES_PER_S)


def admit_deep_page() -> None:
    """Before each read of followers that Redis does not hold, of all processes together.

    Raises: TooManyDeepPages. Cost: one round trip.
    """
    wait_s = deep_pages.take()
    if wait_s:
        raise TooManyDeepPages(ceil(wait_s))
