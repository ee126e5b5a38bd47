"""SQL fragments over the change tables, for statements of other apps; only this app names them."""

# Pending changes of a database, without the parked ones. Add conditions with AND.
SELECT_PENDING = "SELECT owner_id, kind, payload FROM changes_change WHERE state = 0"
# The partitioned table of delivered changes, for PostgreSQL's statistics.
DELIVERED_TABLE = "changes_delivered"
