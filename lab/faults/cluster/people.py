"""Makes the accounts of an experiment, with tokens. Needs Django: only the backstage uses it."""

import secrets
from datetime import UTC, datetime

from accounts.actions.tokens import issue_token
from accounts.models import Account, Application, User
from infra.sharding.buckets import shard_of

SCOPES = "read write follow"


def make_people(count: int) -> list[dict[str, object]]:
    """id, name, two tokens and shard alias of each. They have no passwords: hashing is slow."""
    prefix, now = f"f{secrets.token_hex(3)}", datetime.now(UTC)
    application = Application.objects.create(
        name="faults",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        scopes=SCOPES,
    )
    return [_make_person(f"{prefix}_{number}", application.id, now) for number in range(count)]


def _make_person(name: str, application_id: int, now: datetime) -> dict[str, object]:
    user = User.objects.create(username=name, password="!")
    alias = shard_of(user.id)
    Account(id=user.id, username=name, created_at=now).save(using=alias, force_insert=True)
    tokens = [issue_token(user.id, application_id, SCOPES, now).token for _ in range(2)]
    return {"id": user.id, "name": name, "tokens": tokens, "alias": alias}
