"""Times that can be sorted and compared at a glance. Zone: UTC, as everywhere in the admin."""

DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATETIME_FORMAT = "Y-m-d H:i"
