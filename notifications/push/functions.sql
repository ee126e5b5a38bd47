-- The function of Web Push, for the function of notifications.

-- Whether the account has a subscription.
CREATE OR REPLACE FUNCTION push_is_subscribed(account bigint) RETURNS boolean
LANGUAGE sql STABLE
RETURN EXISTS (SELECT FROM push_pushsubscription WHERE account_id = account);
