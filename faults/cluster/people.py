"""Makes accounts with tokens: python -m faults.cluster.people COUNT, in the cluster's environment.

Prints a JSON object a line for each: id, name, token, and the alias of the shard.
"""

import json
import secrets
import sys
from datetime import UTC, datetime

import django

SCOPES = "read write follow"


def main() -> None:
    django.setup()
    for person in _make(int(sys.argv[1])):
        print(json.dumps(person))


def _make(count: int) -> list[dict[str, object]]:
    """Without passwords: hashing them would take longer than everything else."""
    # Models can be imported only after django.setup().
    from accounts.actions.tokens import issue_token  # noqa: PLC0415
    from accounts.models import Account, Application, User  # noqa: PLC0415
    from infra.sharding.buckets import shard_of  # noqa: PLC0415

    prefix, now = f"f{secrets.token_hex(3)}", datetime.now(UTC)
    application = Application.objects.create(
        name="faults",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        scopes=SCOPES,
    )
    people: list[dict[str, object]] = []
    for number in range(count):
        user = User.objects.create(username=f"{prefix}_{number}", password="!")
        account = Account(id=user.id, username=user.username, created_at=now)
        account.save(using=shard_of(user.id), force_insert=True)
        token = issue_token(user.id, application.id, SCOPES, now).token
        alias = shard_of(user.id)
        people.append({"id": user.id, "name": user.username, "token": token, "alias": alias})
    return people


if __name__ == "__main__":
    main()
