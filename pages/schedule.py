"""When a post is to be published: a field of a form, in the time zone of the pages."""

from datetime import datetime

from django.http import QueryDict

from pages.api_client import ApiRefused
from pages.appearance import find_zone, page_zone

NO_TIME = "Choose when the post is to be published."


def read_schedule(sent: QueryDict) -> str | None:
    """What the API wants as `scheduled_at`; None, to publish now, unless the field was shown.

    Raises: ApiRefused if the field was shown and is empty.
    """
    return read_time(sent) if "with_schedule" in sent else None


def read_time(sent: QueryDict) -> str:
    """The time of the field with the zone that the form has shown: browsers send none, and may have
    another one since. If it is no time, the API says so.

    Raises: ApiRefused if it is empty.
    """
    text = sent.get("scheduled_at", "").strip()
    if not text:
        raise ApiRefused(422, NO_TIME, {})
    try:
        at = datetime.fromisoformat(text)
        zone = find_zone(sent.get("zone", "")) or page_zone()
        return text if at.tzinfo else at.replace(tzinfo=zone).isoformat()
    except (ValueError, OverflowError):
        return text
