"""Gives a token of Tideline for a JWT of a trusted issuer (RFC 7523)."""

from datetime import UTC, datetime, timedelta

from django.db import IntegrityError, transaction

from accounts.actions.tokens import (
    delete_expired_tokens,
    end_oldest_of_application,
    issue_token,
)
from accounts.errors import AccountNotFound, AccountProtected, LoginDisabled
from accounts.identities.actions.provision_account import create_bound_account
from accounts.identities.assertions import LEEWAY_S, UncheckedAssertion
from accounts.identities.errors import AssertionRefused, ScopeRefused
from accounts.identities.models import TrustedIssuer, UsedAssertion
from accounts.identities.queries import find_bound_account
from accounts.identities.types import OWN_IDS, Assertion, ExternalId
from accounts.queries.acting import require_actor
from accounts.scopes import expand_scopes
from accounts.types import IssuedToken, NewUser
from infra.api.errors import ValidationFailed
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute

# Two for each that is added, so that there are never many, and no write waits for another.
DELETE_EXPIRED = """
DELETE FROM identities_usedassertion WHERE id IN (
    SELECT id FROM identities_usedassertion WHERE expires_at < %s
    ORDER BY expires_at LIMIT 2 FOR UPDATE SKIP LOCKED
)
"""
# Short: the product knows whether the person is still signed in, and gives another JWT then.
LIFETIME = timedelta(hours=1)
# Of an account. A product that exchanges for each page must not end the person's other sessions.
MOST_TOKENS = 10


def exchange_assertion(text: str, scope: str, now: datetime) -> IssuedToken:
    """A token for the account of the JWT's subject, which is created if the issuer may do so.

    `scope` empty: all that the issuer's people get. A JWT gives one token: of two calls at once
    one is refused. Killed after the commit, the caller has no token and asks with another JWT.
    Raises: AssertionRefused, ScopeRefused, KeysUnreadable. Cost: eight statements on the default
    database, those of `create_bound_account` for a new account, and maybe a request for keys.
    """
    unchecked = UncheckedAssertion(text)
    issuer = TrustedIssuer.objects.select_related("application").filter(issuer=unchecked.issuer)
    if (trusted := issuer.first()) is None:
        raise AssertionRefused("The issuer is not trusted")
    assertion = unchecked.check(trusted, now.timestamp())
    granted = _scope_of(trusted, scope)
    account_id = _account_of(trusted, assertion, now)
    try:
        with transaction.atomic(using=GLOBAL_ALIAS):
            _use(trusted, assertion, now)
            delete_expired_tokens(account_id, trusted.application_id, now)
            token = issue_token(account_id, trusted.application_id, granted, now, LIFETIME)
            end_oldest_of_application(account_id, trusted.application_id, MOST_TOKENS)
            return token
    except IntegrityError:
        raise AssertionRefused("The assertion was used before") from None


def _scope_of(issuer: TrustedIssuer, asked: str) -> str:
    allowed = issuer.application.scopes
    if not expand_scopes(allowed).issuperset(asked.split()):
        raise ScopeRefused
    return asked or allowed


def _account_of(issuer: TrustedIssuer, assertion: Assertion, now: datetime) -> int:
    namespace = OWN_IDS if issuer.has_own_ids else issuer.issuer
    identity = ExternalId(assertion.sub, namespace)
    account = find_bound_account(identity)
    if account is None:
        return _create(issuer, identity, assertion, now)
    try:
        require_actor(account.account_id)
    except (AccountNotFound, AccountProtected, LoginDisabled) as error:
        raise AssertionRefused(str(error)) from None
    return account.account_id


def _create(
    issuer: TrustedIssuer, identity: ExternalId, assertion: Assertion, now: datetime
) -> int:
    if not issuer.may_create:
        raise AssertionRefused("No account has this subject, and the issuer creates none")
    if not assertion.preferred_username:
        raise AssertionRefused("No account has this subject, and there is no preferred_username")
    name = (assertion.name or "").replace("\x00", "").strip()
    new = NewUser(assertion.preferred_username, "", None, name)
    try:
        return create_bound_account(identity, new, now).account.account_id
    except ValidationFailed as error:
        raise AssertionRefused(str(error)) from None


def _use(issuer: TrustedIssuer, assertion: Assertion, now: datetime) -> None:
    """Raises: IntegrityError if the JWT was used."""
    execute(GLOBAL_ALIAS, DELETE_EXPIRED, (now,))
    expires_at = datetime.fromtimestamp(assertion.exp + LEEWAY_S, UTC)
    UsedAssertion(issuer=issuer, jti=assertion.jti, expires_at=expires_at).save(force_insert=True)
