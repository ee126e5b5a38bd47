"""Settings of signing in that do not depend on the environment."""

from datetime import timedelta

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
