"""Django's registration of django-axes, under the name of its section in the admin."""

from axes.apps import AppConfig as AxesConfig


class SignInGuardConfig(AxesConfig):
    verbose_name = "Security"
