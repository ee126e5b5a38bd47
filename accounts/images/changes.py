"""The changes that images emits."""

from typing import ClassVar

from infra.changes.registry import Payload


class ImageFilesLeft(Payload, frozen=True):
    """On the account's shard; owner: the account. Files of its images are to move or to go."""

    kind: ClassVar[str] = "accounts.image_files_left"
    is_follow_up: ClassVar[bool] = True
