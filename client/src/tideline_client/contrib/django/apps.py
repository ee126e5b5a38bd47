"""The app `tideline`."""

from django.apps import AppConfig


class TidelineConfig(AppConfig):
    name = "tideline_client.contrib.django"
    label = "tideline"
    verbose_name = "Tideline"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models and checks need the loaded apps.
        from tideline_client.contrib.django import checks, outbox  # noqa: PLC0415

        checks.register_checks()
        outbox.connect()
