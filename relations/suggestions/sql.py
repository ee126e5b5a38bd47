"""SQL on the table of suggestions. No other app names it."""

from infra.jobs.walk import Table

# For jobs that walk all rows: owner_id, account_id.
DISMISSED = Table("suggestions_dismissedsuggestion", ("owner_id", "account_id"))
