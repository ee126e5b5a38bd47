"""Takes a picture of a profile away or puts it back, for moderators."""

from accounts.changes import ProfileChanged
from accounts.images.types import Purpose
from infra.changes.append import append_change
from infra.sharding.sql import execute

WRITE = "UPDATE accounts_account SET version = version + 1, {column} = %s WHERE id = %s"
_COLUMNS = {Purpose.AVATAR: "avatar", Purpose.HEADER: "header"}


def write_picture(alias: str, account_id: int, purpose: Purpose, file_name: str) -> None:
    """Sets the avatar or header to a file; empty: the account has the default one.

    Safety: in the caller's transaction, which changes the image. Two statements.
    """
    execute(alias, WRITE.format(column=_COLUMNS[purpose]), (file_name, account_id))
    append_change(alias, account_id, ProfileChanged())
