"""Mails to users, and the links in them that prove that a person reads the mail."""

import json

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.contrib.auth.tokens import PasswordResetTokenGenerator, default_token_generator
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from django.utils.translation import gettext, override
from django.utils.translation import gettext_noop as _

from accounts.models import User
from infra.languages import language_or_default

RESET_PATH = "/auth/password"
ADDRESS_PATH = "/settings/email"


class _AddressProof(PasswordResetTokenGenerator):
    """Tokens for one new address of a user. They end when the present address or the password
    changes. Signing in does not end them: it may be needed to open the link.
    """

    key_salt = "accounts.mails.address"

    def __init__(self, email: str) -> None:
        super().__init__()
        self._email = email

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        present = getattr(user, user.get_email_field_name())
        return json.dumps([user.pk, user.password, present, self._email, timestamp])


def send_reset_mail(user: User) -> None:
    """Sends a link for PASSWORD_RESET_TIMEOUT. It ends when the password or the address changes."""
    link = f"{RESET_PATH}/{user.pk}/{default_token_generator.make_token(user)}"
    _send(user, user.email, _("a new password"), "reset_mail", link)


def send_address_mail(user: User, email: str) -> None:
    """Sends a link to the address that the user wants to have, for PASSWORD_RESET_TIMEOUT."""
    address, token = urlsafe_base64_encode(email.encode()), _AddressProof(email).make_token(user)
    _send(user, email, _("your new address"), "address_mail", f"{ADDRESS_PATH}/{address}/{token}")


def send_address_changed_mail(user: User, before: str) -> None:
    """Tells the address that the user had that it was changed. It does not name the new one."""
    _send(user, before, _("your address was changed"), "address_changed_mail", "")


def find_user_of_link(user_id: int, token: str) -> User | None:
    """The user whose mail had this link; None if the link is wrong, used or too old. One query."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    return user if user and default_token_generator.check_token(user, token) else None


def find_address_of_link(address: str) -> str | None:
    """The address that a link names. None for a text that no mail had."""
    try:
        return urlsafe_base64_decode(address).decode()
    except ValueError:
        return None


def proves_address(user: User, email: str, token: str) -> bool:
    """Whether a mail to this address had this token, for this user, and it still counts."""
    return _AddressProof(email).check_token(user, token)


def send_mail_to(user: User, email: str, subject: str, template: str, **more: object) -> None:
    """Sends a mail in the language of the user. `subject`: in English. `more`: for the template.

    Raises: OSError, SMTPException. Cost: at most ten seconds for each answer of the server.
    """
    context = {"user": user, "site": settings.INSTANCE_TITLE, **more}
    with override(language_or_default(user.language)):
        text = render_to_string(template, context)
        title = f"{settings.INSTANCE_TITLE}: {gettext(subject)}"
    send_mail(title, text, None, [email])


def _send(user: User, email: str, subject: str, template: str, link: str) -> None:
    minutes = settings.PASSWORD_RESET_TIMEOUT // 60
    address = f"{settings.PUBLIC_URL}{link}"
    send_mail_to(user, email, subject, f"accounts/{template}.txt", link=address, minutes=minutes)
