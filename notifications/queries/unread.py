"""How far an account has read its notifications."""

from notifications.ids import MAX_ID
from timelines.markers.rows import read_markers
from timelines.markers.types import Timeline


def read_up_to(owner_id: int) -> int:
    """The id in the marker of notifications; 0 if there is none. One query by key."""
    marker = read_markers(owner_id, [Timeline.NOTIFICATIONS]).get(Timeline.NOTIFICATIONS)
    return min(int(marker.last_read_id), MAX_ID) if marker else 0
