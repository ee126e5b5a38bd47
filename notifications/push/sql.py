"""SQL on the table of Web Push, for other apps. No other app names this table."""

from infra.jobs.walk import Table

# Whether the account of a column `owner_id` has a subscription.
IS_SUBSCRIBED = "EXISTS (SELECT FROM push_pushsubscription WHERE account_id = owner_id)"
SUBSCRIPTIONS = Table("push_pushsubscription", ("account_id", "token_id"))
