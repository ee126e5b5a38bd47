"""The texts of the site, written by operators in the admin."""

import re
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from accounts.models import USERNAME_LENGTH
from infra.sharding.placement import Placement

TEXT_LENGTH = 100_000
RULE_LENGTH = 300
HINT_LENGTH = 1_000
# A suggested reason fits each form of moderators that asks for one.
MOST_REASONS, LONGEST_REASON = 50, 200
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,4})?")
MARKDOWN = "Markdown. HTML and pictures are not allowed. Empty: the page says that there is none."


def check_translations(value: object) -> None:
    """Raises: ValidationError unless each language has a text, and no more than a rule has."""
    lengths = {"text": RULE_LENGTH, "hint": HINT_LENGTH}
    if not isinstance(value, dict):
        raise ValidationError("Not an object.")
    for language, words in value.items():
        is_known = isinstance(words, dict) and words.keys() <= lengths.keys()
        if not is_known or not words.get("text") or not LANGUAGE.fullmatch(language):
            raise ValidationError(f"{language}: needs a language code, and text and perhaps hint.")
        for name, text in words.items():
            if not isinstance(text, str) or len(text) > lengths[name]:
                raise ValidationError(
                    f"{language}: {name} is a text of {lengths[name]} characters."
                )


class SiteTexts(models.Model):
    """GLOBAL, one row. The times say when a text was changed last; NULL: never."""

    placement: ClassVar[Placement] = Placement.GLOBAL

    id = models.SmallIntegerField(primary_key=True, default=0, db_default=0, editable=False)
    summary = models.CharField(
        "in one sentence",
        max_length=300,
        blank=True,
        db_default="",
        help_text="What clients show next to the name of the site.",
    )
    run_by = models.CharField(
        "who runs the site",
        max_length=300,
        blank=True,
        db_default="",
        help_text="A person or an organization, with an address where the law asks for one.",
    )
    email = models.EmailField("contact", blank=True, db_default="")
    contact = models.CharField(
        "account of the contact",
        max_length=USERNAME_LENGTH,
        blank=True,
        db_default="",
        help_text="A username. Clients show this account as the one to write to.",
    )
    about = models.TextField(max_length=TEXT_LENGTH, blank=True, db_default="", help_text=MARKDOWN)
    about_changed_at = models.DateTimeField(null=True, editable=False)
    privacy = models.TextField(
        "privacy policy", max_length=TEXT_LENGTH, blank=True, db_default="", help_text=MARKDOWN
    )
    privacy_changed_at = models.DateTimeField(null=True, editable=False)
    reasons = models.TextField(
        "reasons of moderators",
        max_length=MOST_REASONS * (LONGEST_REASON + len("\r\n")),
        blank=True,
        db_default="",
        help_text="One a line. The pages of moderators suggest them. Accounts can read the reason"
        " of a decision about them.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "texts of the site"

    def __str__(self) -> str:
        return "Texts of the site"


class SiteRule(models.Model):
    """GLOBAL, a few rows: what people accept when they sign up, in the order of
    `position`. A rule keeps its id, by which reports name it.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    site = models.ForeignKey(
        SiteTexts, on_delete=models.CASCADE, db_index=False, related_name="rules"
    )
    position = models.SmallIntegerField("order", db_default=0, default=0)
    text = models.CharField(max_length=RULE_LENGTH)
    hint = models.CharField(
        max_length=HINT_LENGTH, blank=True, db_default="", help_text="More words, if it needs any."
    )

    translations = models.JSONField(
        null=True,
        blank=True,
        validators=[check_translations],
        help_text='In other languages: {"de": {"text": "Seid freundlich", "hint": ""}}',
    )

    class Meta:
        ordering = ("position", "pk")
        verbose_name = "rule"

    def __str__(self) -> str:
        return self.text
