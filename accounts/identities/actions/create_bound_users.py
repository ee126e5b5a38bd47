"""Creates users with the ids that the system gave them which had them before.

Services know the accounts by the same ids.
"""

from collections.abc import Mapping

from django.db import transaction

from accounts.changes import UserCreated
from accounts.identities.types import OWN_IDS
from infra.changes.append_many import append_changes
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all

# In the order of the usernames, so that two statements cannot deadlock. '!' is no hash of any
# password: these users choose one by e-mail.
CREATE = """
INSERT INTO accounts_user
    (username, password, email, is_superuser, is_staff, is_active, date_joined)
SELECT username, '!', email, false, false, true, joined
FROM unnest(%s::text[], %s::text[], %s::timestamptz[]) AS new (username, email, joined)
WHERE NOT EXISTS (SELECT FROM accounts_formername AS former WHERE former.username = new.username)
ORDER BY username ON CONFLICT DO NOTHING RETURNING username, id
"""
BIND = """
INSERT INTO identities_externalidentity (tenant, issuer, subject, user_id)
SELECT %s, %s, * FROM unnest(%s::text[], %s::bigint[])
"""


def create_bound_users(
    tenant: int, users: Mapping[str, UserCreated], emails: Mapping[str, str]
) -> dict[str, int]:
    """Creates a user for each external id, and binds it. Returns the account ids of the new ones.

    Left out are those whose username or address another user has, or had as a name. `users`,
    `emails`: by external id; the usernames are valid. The accounts are created by the change of
    each user. Raises: IntegrityError if one of the ids was bound in the meantime; nothing is
    written then. Safety: one transaction. Cost: three statements; inline, as `create_accounts`.
    """
    ids = {user.username: external_id for external_id, user in users.items()}
    names = list(ids)
    columns = (
        names,
        [emails.get(ids[name], "") for name in names],
        [users[ids[name]].created_at for name in names],
    )
    with transaction.atomic(using=GLOBAL_ALIAS):
        created = {ids[name]: i for name, i in fetch_all(GLOBAL_ALIAS, CREATE, columns)}
        if created:
            execute(GLOBAL_ALIAS, BIND, (tenant, OWN_IDS, list(created), list(created.values())))
            append_changes(GLOBAL_ALIAS, [(i, users[key]) for key, i in created.items()])
        failpoint("accounts.bound")
    return created
