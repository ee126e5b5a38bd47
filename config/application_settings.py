"""The parts that Django puts together: apps, routes, templates. None depends on the environment.

Settings of signing in that do not depend on the environment.
"""

from datetime import timedelta
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
INSTALLED_PACKAGES = [
    "operations.apps.TidelineAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "accounts.sign_in_guard.SignInGuardConfig",
    "oauth2_provider",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "django_otp_webauthn",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
# From the lowest floor to the highest: consumers of a change run in this order.
OWN_APPS = [
    "infra.admin",
    "infra.api",
    "infra.sharding",
    "infra.caching",
    "infra.jobs",
    "infra.changes",
    "counters",
    "accounts.images",
    "accounts",
    "accounts.identities",
    "accounts.site_texts",
    "relations",
    "relations.lists",
    "relations.suggestions",
    "posts",
    "posts.filters",
    "posts.conversations",
    "posts.external",
    "posts.scheduled",
    "timelines",
    "timelines.markers",
    "timelines.promotions",
    "timelines.tags",
    "notifications",
    "notifications.push",
    "moderation",
    "integrations",
    "integrations.brought_lists",
    "pages",
    "operations",
    "operations.moves",
    "operations.tenants",
    "web",
    "config",
]
INSTALLED_APPS = [*INSTALLED_PACKAGES, *OWN_APPS]
SILENCED_SYSTEM_CHECKS = [
    # Some clients of Mastodon do not support PKCE; native ones use http.
    "oauth2_provider.W008",
    "oauth2_provider.W010",
    # Django 6.1 wants its PostgreSQL app for ArrayField. That app asks each new connection about
    # hstore and citext, which Tideline does not use, and an array needs nothing of it.
    "postgres.E005",
    # Django 6.1 refuses a site that sends no mails. Without MAIL_URL that is what it shall do.
    "mail.E001",
    # An address without TLS that is not localhost. Browsers then offer no passkeys.
    "otp_webauthn.E031",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "web.wsgi.application"
# What an account can pin to its page. The instance says it and the action checks it.
MAX_PINNED_POSTS = 5
# What the compensator runs at intervals.
PERIODIC_TASKS = "config.periodic.PERIODIC_TASKS"
APPEND_SLASH = False
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "/auth/sign_in"
LOGIN_REDIRECT_URL = "/"
# Of the API, the admin and logs. SITE_LANGUAGE is that of the pages.
LANGUAGE_CODE = "en"
# Each by its own name. A language has a folder in pages/locale/.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "pages/locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = ["config.formats"]
STATIC_URL = "/static/"

AUTHENTICATION_BACKENDS = [
    "accounts.sign_in_throttle.SignInGuard",
    "accounts.sign_in_throttle.PasswordBackend",
    "accounts.second_step.backend.SecondStepBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = [
    "accounts.password_hasher.PasswordHasher",
    "accounts.oauth.RandomSecretHasher",
]
# After this many failures with one name from one address, both together are locked for the
# cool-off time.
AXES_FAILURE_LIMIT = 5
# Failures from one address with any names. The limit is higher: many people may share an address.
SIGN_IN_FAILURES_PER_ADDRESS = 50
AXES_HANDLER = "accounts.sign_in_throttle.SignInHandler"
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "accounts.sign_in_throttle.sign_in_name"
AXES_CLIENT_IP_CALLABLE = "accounts.sign_in_throttle.sign_in_network"
AXES_RESET_ON_SUCCESS = True
# Fields of forms that the rows of failures do not show.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "passkey"]
# A failure during the lockout does not extend it and adds no rows.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "pages.views.sign_in.draw_locked_out"
# A passkey is a second step: a password comes before it.
OTP_WEBAUTHN_ALLOW_PASSWORDLESS_LOGIN = False
# How long the link in a mail works: for a new password, and for a new address.
PASSWORD_RESET_TIMEOUT = 3_600
