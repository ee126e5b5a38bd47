"""SQL of markers that other apps put into their statements."""

from timelines.markers.types import Timeline

# How far the account `%(owner)s` has read its notifications: a number of up to 20 digits. No row
# if it has no marker.
READ_NOTIFICATIONS = f"""
SELECT last_read_id::numeric AS read_up_to FROM markers_marker
WHERE account_id = %(owner)s AND timeline = {int(Timeline.NOTIFICATIONS)}
"""  # noqa: S608
