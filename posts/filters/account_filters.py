"""All filters of one account, and the changes of them. Plain values: edit_filters stores them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from posts.filters.errors import (
    FilterKeywordsTooLong,
    FilterNotFound,
    TooManyFilterRules,
    TooManyFilters,
)
from posts.filters.types import FilterEdit, FilteredStatus, FilterKeyword, KeywordEdit, PostFilter
from posts.filters.words import fold

# Of one account. They are part of each copy of its viewer state.
MOST_FILTERS, MOST_RULES = 50, 200
# Of all keywords together, folded as they are searched: what a process keeps of them has bounds.
MOST_KEYWORD_CHARACTERS = 3_000
P = TypeVar("P", FilterKeyword, FilteredStatus)


class AccountFilters:
    """The filters of an account by id. A change that does not fit raises, and changes nothing.

    `next_id`: above all ids that the account has ever had. Keywords and posts of filters have ids
    of the same sequence.
    """

    def __init__(self, filters: Iterable[PostFilter], next_id: int) -> None:
        self.filters = {rule.filter_id: rule for rule in filters}
        used = [i for rule in self.filters.values() for i in _ids_in(rule)]
        self._next_id = max([next_id, *(i + 1 for i in used)])

    def get(self, filter_id: int) -> PostFilter:
        """Raises: FilterNotFound."""
        if filter_id not in self.filters:
            raise FilterNotFound
        return self.filters[filter_id]

    def find_keyword(self, keyword_id: int) -> tuple[PostFilter, FilterKeyword]:
        """The keyword and its filter. Raises: FilterNotFound."""
        return _find(self.filters.values(), lambda rule: rule.keywords, keyword_id)

    def find_status(self, rule_id: int) -> tuple[PostFilter, FilteredStatus]:
        """The filtered post and its filter. Raises: FilterNotFound."""
        return _find(self.filters.values(), lambda rule: rule.statuses, rule_id)

    def create(self, edit: FilterEdit) -> PostFilter:
        """Raises: TooManyFilters, TooManyFilterRules, FilterKeywordsTooLong."""
        if len(self.filters) >= MOST_FILTERS:
            raise TooManyFilters
        empty = PostFilter(self._take_id(), "", (), "warn", None)
        return self._keep(self._edited(empty, edit))

    def change(self, filter_id: int, edit: FilterEdit) -> PostFilter:
        """Raises: as `create`, and FilterNotFound, also for a keyword of another filter."""
        return self._keep(self._edited(self.get(filter_id), edit))

    def remove(self, filter_id: int) -> None:
        """Raises: FilterNotFound."""
        del self.filters[self.get(filter_id).filter_id]

    def change_keyword(self, edit: KeywordEdit) -> FilterKeyword:
        """The keyword after the change. Raises: FilterNotFound."""
        owner, old = self.find_keyword(edit.id or 0)
        self.change(owner.filter_id, FilterEdit(keywords=[edit]))
        return self.find_keyword(old.id)[1]

    def remove_keyword(self, keyword_id: int, with_empty_filter: bool = False) -> None:
        """`with_empty_filter`: a filter that has nothing else goes, too. Raises: FilterNotFound."""
        owner, _ = self.find_keyword(keyword_id)
        removed = KeywordEdit(keyword_id, is_removed=True)
        left = self.change(owner.filter_id, FilterEdit(keywords=[removed]))
        if with_empty_filter and not left.keywords and not left.statuses:
            self.remove(left.filter_id)

    def add_status(self, filter_id: int, status_id: str) -> FilteredStatus:
        """The same again for a post that the filter has. Raises as `change`."""
        owner = self.get(filter_id)
        known = [status for status in owner.statuses if status.status_id == status_id]
        if known:
            return known[0]
        added = FilteredStatus(self._take_id(), status_id)
        self._keep(replace(owner, statuses=[*owner.statuses, added]))
        return added

    def remove_status(self, rule_id: int) -> None:
        """Raises: FilterNotFound."""
        owner, filtered = self.find_status(rule_id)
        left = [status for status in owner.statuses if status is not filtered]
        self._keep(replace(owner, statuses=left))

    def _edited(self, old: PostFilter, edit: FilterEdit) -> PostFilter:
        keywords = list(old.keywords)
        for edited in edit.keywords:
            keywords = self._with_keyword(keywords, edited)
        return replace(
            old,
            title=old.title if edit.title is None else edit.title,
            contexts=old.contexts if edit.contexts is None else edit.contexts,
            action=edit.action or old.action,
            expires_ms=edit.expires_ms if edit.has_expiry else old.expires_ms,
            keywords=keywords,
        )

    def _with_keyword(
        self, keywords: Sequence[FilterKeyword], edit: KeywordEdit
    ) -> list[FilterKeyword]:
        if edit.id is None:
            whole_word = True if edit.whole_word is None else edit.whole_word
            return [*keywords, FilterKeyword(self._take_id(), edit.keyword or "", whole_word)]
        by_id = {keyword.id: keyword for keyword in keywords}
        if edit.id not in by_id:
            raise FilterNotFound
        old = by_id[edit.id]
        keyword = old.keyword if edit.keyword is None else edit.keyword
        whole_word = old.whole_word if edit.whole_word is None else edit.whole_word
        by_id[edit.id] = FilterKeyword(old.id, keyword, whole_word)
        if edit.is_removed:
            del by_id[edit.id]
        return list(by_id.values())

    def _keep(self, changed: PostFilter) -> PostFilter:
        others = [rule for i, rule in self.filters.items() if i != changed.filter_id]
        rules = sum(len(rule.keywords) + len(rule.statuses) for rule in (*others, changed))
        if rules > MOST_RULES:
            raise TooManyFilterRules
        words = [word.keyword for rule in (*others, changed) for word in rule.keywords]
        if sum(len(fold(word)) for word in words) > MOST_KEYWORD_CHARACTERS:
            raise FilterKeywordsTooLong(MOST_KEYWORD_CHARACTERS)
        self.filters[changed.filter_id] = changed
        return changed

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1


def _ids_in(rule: PostFilter) -> list[int]:
    keywords, statuses = rule.keywords, rule.statuses
    return [rule.filter_id, *(word.id for word in keywords), *(named.id for named in statuses)]


def _find(
    filters: Iterable[PostFilter], parts_of: Callable[[PostFilter], Sequence[P]], part_id: int
) -> tuple[PostFilter, P]:
    for rule in filters:
        for part in parts_of(rule):
            if part.id == part_id:
                return rule, part
    raise FilterNotFound
