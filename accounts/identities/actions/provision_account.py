"""Makes the account of an external id what a service wants it to be. It can be repeated."""

from datetime import datetime

import msgspec

from accounts.actions.rename import rename_account
from accounts.actions.update_profile import check_profile_edit, update_profile
from accounts.identities.actions.create_bound_account import create_bound_account
from accounts.identities.errors import AccountNotReady
from accounts.identities.queries.bound_accounts import find_bound_account
from accounts.identities.types import BoundAccount, ExternalId, ProvisionedAccount, WantedAccount
from accounts.queries.acting import require_actor
from accounts.queries.profiles import find_profile
from accounts.types import NewUser, ProfileEdit
from infra.api.errors import AccountFrozen, Fault, ValidationFailed

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
        edit = msgspec.structs.replace(wanted.edit, display_name=None) if made.is_new else None
    else:
        made, edit = ProvisionedAccount(known, is_new=False), None
    if edit is None:
        _check_known(identity, made.account)
        made = made._replace(account=_bring_name(made.account, wanted.username, now))
        edit = wanted.edit
    _bring_profile(made.account.account_id, edit)
    return made


def _new_user(wanted: WantedAccount) -> NewUser:
    """Without a password and an address: this user signs in elsewhere."""
    if wanted.username is None:
        raise ValidationFailed([Fault("username", "ERR_BLANK", "can't be blank")])
    name = wanted.edit.display_name or ""
    return NewUser(wanted.username, email="", password=None, display_name=name)


def _bring_name(account: BoundAccount, username: str | None, now: datetime) -> BoundAccount:
    if username is None or username.lower() == account.username:
        return account
    return account._replace(username=rename_account(account.account_id, username, now))


def _check_known(identity: ExternalId, account: BoundAccount) -> None:
    if require_actor(account.account_id, identity.tenant).is_frozen:
        raise AccountFrozen


def _bring_profile(account_id: int, edit: ProfileEdit) -> None:
    """Writes only what differs: a nightly run over all accounts makes no change and no event."""
    if edit == NO_EDIT:
        return
    profile = find_profile(account_id)
    if profile is None:
        raise AccountNotReady
    sent = msgspec.structs.asdict(edit)
    new = {
        name: value
        for name, value in sent.items()
        if value is not None and value != getattr(profile, name)
    }
    if new:
        update_profile(account_id, ProfileEdit(**new))
