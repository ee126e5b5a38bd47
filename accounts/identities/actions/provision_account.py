"""Makes the account of an external id what a service wants it to be. It can be repeated.

Signs up the account of an identity: user, change and identity are one transaction.

Creates users with the ids that the system gave them which had them before.

Services know the accounts by the same ids.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec
from django.db import IntegrityError, transaction

from accounts.actions.rename import rename_account
from accounts.actions.sign_up import sign_up
from accounts.actions.update_profile import check_profile_edit, update_profile
from accounts.changes import UserCreated
from accounts.identities.errors import AccountNotReady
from accounts.identities.models import ExternalIdentity
from accounts.identities.queries import find_bound_account
from accounts.identities.types import (
    OWN_IDS,
    BoundAccount,
    ExternalId,
    ProvisionedAccount,
    WantedAccount,
)
from accounts.queries.acting import require_actor
from accounts.queries.profiles import find_profile
from accounts.types import NewUser, Profile, ProfileEdit, ServiceObject
from accounts.usernames import username_of_object
from infra.api.errors import AccountFrozen, Fault, ValidationFailed
from infra.changes.append import append_changes
from infra.changes.failpoints import failpoint
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute, fetch_all

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('accounts.identities ' || %s, 0))"


def create_bound_account(identity: ExternalId, new: NewUser, now: datetime) -> ProvisionedAccount:
    """The new account of this identity, or the one that another call has just created.

    A kill leaves all of it or nothing; the account's row follows the user's as after any sign-up.
    Safety: of several calls at once one creates it, and the others wait. Raises: ValidationFailed.
    Cost: that of `sign_up` without the slow hash, and three statements.
    """
    try:
        return _create(identity, new, now)
    except (ValidationFailed, IntegrityError):
        # An import, which takes no such lock, may have created it.
        known = find_bound_account(identity)
        if known is None:
            raise
        return ProvisionedAccount(known, is_new=False)


def _create(identity: ExternalId, new: NewUser, now: datetime) -> ProvisionedAccount:
    with transaction.atomic(using=GLOBAL_ALIAS):
        execute(GLOBAL_ALIAS, LOCK, (" ".join(map(str, identity)),))
        known = find_bound_account(identity)
        if known is not None:
            return ProvisionedAccount(known, is_new=False)
        account_id = sign_up(new, now)
        ExternalIdentity(**identity._asdict(), user_id=account_id).save(force_insert=True)
    made = BoundAccount(identity.subject, account_id, new.username.lower(), is_suspended=False)
    return ProvisionedAccount(made, is_new=True)


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
INSERT INTO identities_externalidentity (issuer, subject, user_id)
SELECT %s, * FROM unnest(%s::text[], %s::bigint[])
"""


def create_bound_users(
    users: Mapping[str, UserCreated],
    emails: Mapping[str, str],
    issuer: str = OWN_IDS,
) -> dict[str, int]:
    """Creates a user for each external id, and binds it. Returns the account ids of the new ones.

    Left out are those whose username or address another user has, or had as a name. `users`,
    `emails`: by external id of this issuer; the usernames are valid. The accounts are created by
    the change of each user. Raises: IntegrityError if one of the ids was bound in the meantime;
    nothing is written then. Safety: one transaction. Cost: three statements; inline, as
    `create_accounts`.
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
            execute(GLOBAL_ALIAS, BIND, (issuer, list(created), list(created.values())))
            append_changes(GLOBAL_ALIAS, [(i, users[key]) for key, i in created.items()])
        failpoint("accounts.bound")
    return created


NO_EDIT = ProfileEdit()


def provision_account(
    identity: ExternalId, wanted: WantedAccount, now: datetime
) -> ProvisionedAccount:
    """Creates the account of this identity, or changes its name and profile where they differ.

    Killed after the account was created or renamed, it leaves a profile without the rest: a
    repeated call writes it. Raises: ValidationFailed; AccountNotReady; for an account that
    moderators restricted or that is staff LoginDisabled, AccountFrozen, AccountProtected. Cost: one
    query; for a new account `create_bound_account`; one query of the shard, and `rename_account`
    and `update_profile` if they differ.
    """
    check_profile_edit(wanted.edit)
    known = find_bound_account(identity)
    if known is None:
        made = create_bound_account(identity, _new_user(wanted), now)
        edit = _without_created(wanted.edit) if made.is_new else None
    else:
        made, edit = ProvisionedAccount(known, is_new=False), None
    if edit is None:
        _check_known(identity, made.account)
        made = made._replace(account=_bring_name(made.account, wanted.username, now))
        edit = wanted.edit
    _bring_profile(made.account.account_id, edit)
    return made


def _new_user(wanted: WantedAccount) -> NewUser:
    """Without a password and an address: this user signs in elsewhere, and a thing nowhere."""
    owned, username = wanted.edit.service_object, wanted.username
    if owned is not None:
        username = username or username_of_object(owned.kind)
        if not wanted.edit.display_name:
            raise ValidationFailed([Fault("title", "ERR_BLANK", "can't be blank")])
    if username is None:
        raise ValidationFailed([Fault("username", "ERR_BLANK", "can't be blank")])
    name = wanted.edit.display_name or ""
    return NewUser(username, email="", password=None, display_name=name, service_object=owned)


def _without_created(edit: ProfileEdit) -> ProfileEdit:
    """What is left to write: the new account has the rest."""
    return msgspec.structs.replace(edit, display_name=None, service_object=None)


def _bring_name(account: BoundAccount, username: str | None, now: datetime) -> BoundAccount:
    if username is None or username.lower() == account.username:
        return account
    return account._replace(username=rename_account(account.account_id, username, now))


def _check_known(identity: ExternalId, account: BoundAccount) -> None:
    if require_actor(account.account_id).is_frozen:
        raise AccountFrozen


def _bring_profile(account_id: int, edit: ProfileEdit) -> None:
    """Writes only what differs: a nightly run over all accounts makes no change and no event."""
    if edit == NO_EDIT:
        return
    profile = find_profile(account_id)
    if profile is None:
        raise AccountNotReady
    new = changes_of(profile, edit)
    if new != NO_EDIT:
        update_profile(account_id, new)


def changes_of(profile: Profile, edit: ProfileEdit) -> ProfileEdit:
    """What of the edit the profile lacks."""
    sent = msgspec.structs.asdict(edit)
    new = {
        name: value
        for name, value in sent.items()
        if value is not None and _differs(value, getattr(profile, name))
    }
    return ProfileEdit(**new)


def _differs(sent: object, known: object) -> bool:
    """Of a thing of a service, only what was sent is compared."""
    if not isinstance(sent, ServiceObject) or known is None:
        return sent != known
    fields = msgspec.structs.asdict(sent).items()
    return any(value not in (None, getattr(known, name)) for name, value in fields)
