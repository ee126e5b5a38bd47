"""Mails to users, and the links in them that prove that a person reads the mail."""

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.template.loader import render_to_string

from accounts.models import User

RESET_PATH = "/auth/password"


def send_reset_mail(user: User) -> None:
    """Sends a link for PASSWORD_RESET_TIMEOUT. It ends when the password or the address changes."""
    link = f"{RESET_PATH}/{user.pk}/{default_token_generator.make_token(user)}"
    context = {
        "user": user,
        "site": settings.INSTANCE_TITLE,
        "link": f"{settings.PUBLIC_URL}{link}",
        "minutes": settings.PASSWORD_RESET_TIMEOUT // 60,
    }
    text = render_to_string("accounts/reset_mail.txt", context)
    send_mail(f"{settings.INSTANCE_TITLE}: a new password", text, None, [user.email])


def find_user_of_link(user_id: int, token: str) -> User | None:
    """The user whose mail had this link; None if the link is wrong, used or too old. One query."""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    return user if user and default_token_generator.check_token(user, token) else None
