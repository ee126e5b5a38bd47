"""The rules of the site by id, as reports name them.

The texts of the site in process memory, because most clients ask for them first.
"""

import threading
import time
from collections.abc import Collection

import structlog
from django.db import DatabaseError, InterfaceError

from accounts.queries.users import find_account_id
from accounts.site_texts.models import SiteRule, SiteTexts
from accounts.site_texts.types import (
    EMPTY,
    LongText,
    SiteDescription,
    SiteRuleText,
    split_reasons,
)
from accounts.texts.html import markdown_to_html


def load_rule_texts(rule_ids: Collection[int]) -> dict[int, str]:
    """The texts of those rules that exist now, by id. One query by key."""
    return dict(SiteRule.objects.filter(pk__in=rule_ids).values_list("pk", "text"))


IN_PROCESS_S = 30
log = structlog.get_logger()


class _TextMemory:
    """The texts as this process read them last. `fresh_until`: by the monotonic clock."""

    texts: SiteDescription | None = None
    fresh_until = 0.0
    loading = threading.Lock()


def get_site_description() -> SiteDescription:
    """At most IN_PROCESS_S old. If the default database is away, the last ones stay.

    Raises what the database raises if this process has read none yet: no text is not an empty
    text. Cost: nothing, except three queries every IN_PROCESS_S for one thread; the others use the
    last ones, and wait if there are none.
    """
    memory = _TextMemory
    if time.monotonic() >= memory.fresh_until and memory.loading.acquire(memory.texts is None):
        try:
            _refresh()
        finally:
            _TextMemory.loading.release()
    return _TextMemory.texts or EMPTY


def forget_site_description() -> None:
    """The next reader in this process reads the database."""
    _TextMemory.fresh_until = 0.0


def _refresh() -> None:
    if time.monotonic() < _TextMemory.fresh_until:  # by a thread that this one waited for
        return
    try:
        _TextMemory.texts = read_site_description()
    except (DatabaseError, InterfaceError) as error:
        if _TextMemory.texts is None:
            raise
        log.warning("site_texts.not_refreshed", error=str(error))
    _TextMemory.fresh_until = time.monotonic() + IN_PROCESS_S


def read_site_description() -> SiteDescription:
    """As they are now. Cost: three queries by key, and the Markdown."""
    row = SiteTexts.objects.first()
    if row is None:
        return EMPTY
    rules = SiteRule.objects.filter(site=row)
    return SiteDescription(
        summary=row.summary,
        run_by=row.run_by,
        email=row.email,
        about=LongText(markdown_to_html(row.about), row.about_changed_at),
        privacy=LongText(markdown_to_html(row.privacy), row.privacy_changed_at),
        rules=tuple(_text_of(rule) for rule in rules),
        reasons=tuple(split_reasons(row.reasons)),
        contact_id=find_account_id(row.contact) if row.contact else None,
    )


def _text_of(rule: SiteRule) -> SiteRuleText:
    translations = {
        language: {"text": words["text"], "hint": words.get("hint", "")}
        for language, words in (rule.translations or {}).items()
    }
    return SiteRuleText(rule.pk, rule.text, rule.hint, translations)
