"""How secrets that we made ourselves are kept."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class RandomSecretHasher(PBKDF2PasswordHasher):
    """For client secrets: 128 random characters leave nothing to guess, so nothing to slow down.

    With the password hasher every token request would cost half a second of CPU.
    """

    algorithm = "random_secret"
    iterations = 1
