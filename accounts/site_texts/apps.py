"""The Django app of the site's texts: an app of its own for its two tables."""

from django.apps import AppConfig


class SiteTextsConfig(AppConfig):
    name = "accounts.site_texts"
    label = "site_texts"
    verbose_name = "This site"
