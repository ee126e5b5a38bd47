"""The consumer of images: files follow what became of posts and accounts."""

from collections.abc import Sequence

from accounts.images.actions.place_files import place_files
from accounts.images.changes import ImageFilesLeft
from infra.changes.registry import Delivery, FollowUp, consumes


@consumes(ImageFilesLeft)
def place_files_left(alias: str, deliveries: Sequence[Delivery[ImageFilesLeft]]) -> list[FollowUp]:
    """Moves and deletes the files of a page of images of each account. Raises: ImagesUnavailable.

    Safety and cost: as `place_files`.
    """
    owners = dict.fromkeys(delivery.owner_id for delivery in deliveries)
    return [FollowUp(owner_id, ImageFilesLeft()) for owner_id in owners if place_files(owner_id)]
