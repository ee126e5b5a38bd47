"""Django's registration of its admin, with our site instead of the usual one."""

from django.contrib.admin import apps


class TidelineAdmin(apps.AdminConfig):
    default_site = "operations.site.TidelineSite"
