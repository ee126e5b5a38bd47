"""What is silenced in settings is true all the same."""

from django.conf import settings

SECURITY = {
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.content_policy.ContentPolicy",
    "axes.middleware.AxesMiddleware",
}


def test_pages_have_what_the_silenced_checks_ask_for() -> None:
    assert set(settings.PAGE_MIDDLEWARE) >= SECURITY
    assert "config.middleware.PagesOnly" in settings.MIDDLEWARE
