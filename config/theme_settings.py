"""Django's TEMPLATES and folders of static files, with those of a theme before ours."""

from pathlib import Path
from typing import Any

from config.application_settings import BASE_DIR


def theme_folders(folder: str, name: str) -> list[Path]:
    """This folder of the theme, if it has one."""
    inside = Path(folder) / name
    return [inside] if folder and inside.is_dir() else []


def templates(of_theme: list[Path]) -> list[dict[str, Any]]:
    """The engines. All that packages bring, and so the admin, is drawn by Django's templates."""
    return [
        {
            "BACKEND": "pages.template_backend.PageTemplates",
            "NAME": "jinja2",
            "DIRS": of_theme,
            "APP_DIRS": True,
            "OPTIONS": {
                "environment": "pages.template_environment.page_environment",
                "context_processors": ["pages.context.page_context"],
            },
        },
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            # Before the templates of Django's apps, so that the admin has our icon.
            "DIRS": [BASE_DIR / "config" / "templates"],
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        },
    ]
