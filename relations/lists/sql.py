"""SQL on the tables of account lists. No other app names these tables."""

from infra.jobs.walk import Table

# For jobs that walk all lists: owner_id, list_id.
ACCOUNT_LISTS = Table("lists_accountlist", ("owner_id", "list_id"))
