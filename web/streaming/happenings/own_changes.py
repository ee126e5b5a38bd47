"""Messages about what an account owns: conversations with direct posts, and filters."""

from collections.abc import Iterator, Sequence

from posts.conversations.errors import ConversationNotFound
from posts.conversations.queries.conversations import get_conversation_json
from posts.ids import PostId
from web.streaming.channels import DIRECT, HOME
from web.streaming.directory import Directory
from web.streaming.happenings.types import Audience, Happening, Shown, Target, View, by_account


class ConversationChanged(Happening):
    """A direct post was written or edited. `accounts`: its author, and those that it mentions."""

    def __init__(self, thread: PostId, accounts: Sequence[int]) -> None:
        self.thread, self.accounts = thread, accounts

    def find_audience(self, directory: Directory) -> Audience:
        members = (directory.members[i] for i in self.accounts if i in directory.members)
        return by_account(target for member in members for target in member.on(DIRECT))

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        """One query, and the post."""
        try:
            payload = get_conversation_json(view.account_id, self.thread)
        except ConversationNotFound:
            return
        for target in targets:
            yield Shown(target, "conversation", payload)


class FiltersChanged(Happening):
    """The account edited its filters: its clients read them, and their posts, again."""

    def __init__(self, account_id: int) -> None:
        self.account_id = account_id

    def find_audience(self, directory: Directory) -> Audience:
        member = directory.members.get(self.account_id)
        return by_account(member.on(HOME) if member else ())

    def show(self, view: View, targets: Sequence[Target]) -> Iterator[Shown]:
        return (Shown(target, "filters_changed", None) for target in targets)
