"""SQL on the table of Web Push, for other apps. No other app names this table."""

from infra.jobs.walk import Table

SUBSCRIPTIONS = Table("push_pushsubscription", ("account_id", "token_id"))
