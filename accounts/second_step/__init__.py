"""The second step of signing in: an authenticator app, passkeys, and recovery codes.

The tables, the checks of codes and the cryptography are of django-otp and django-otp-webauthn. See
docs/explanation/decisions/0096-the-second-step-is-kept-in-the-database.md.
"""
