"""Makes the recent-posts index that the setting RECENT_INDEX names."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from django.conf import settings

from timelines.recent.by_author import ByAuthorIndex
from timelines.recent.interface import RecentIndex
from timelines.recent.replicated import ReplicatedIndex

INDEXES: Mapping[str, Callable[[], RecentIndex]] = MappingProxyType(
    {"replicated": ReplicatedIndex, "by_author": ByAuthorIndex}
)


def recent_index() -> RecentIndex:
    """The index of this process."""
    return INDEXES[settings.RECENT_INDEX]()
