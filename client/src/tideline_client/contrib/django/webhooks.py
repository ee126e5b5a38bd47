"""The view that Tideline's webhooks call, and the signal that it sends.

    path("tideline/webhook", webhook)

    @receiver(event_received)
    def forget_post(event, **_):
        if event.type == "post.deleted":
            ...

| killed | left | then |
|---|---|---|
| before the transaction commits | nothing of it | Tideline sends the message again |
| after it, before the answer | all of it | Tideline sends it again; its id is known |

The receivers run in the transaction that stores the message's id: what they write to this database
is done once. What they do elsewhere may be done again.
"""

from datetime import timedelta

import msgspec
from django.core.exceptions import ImproperlyConfigured
from django.db import router, transaction
from django.dispatch import Signal
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tideline_client.contrib.django.models import ReceivedMessage
from tideline_client.contrib.django.settings import read_settings
from tideline_client.models import Event

# Longer than Tideline goes on sending a message.
KEPT = timedelta(days=14)
event_received = Signal()


@csrf_exempt
@require_POST
def webhook(request: HttpRequest) -> HttpResponse:
    """204: the event is handled. 400: it is not from Tideline, or older than five minutes.

    A receiver that raises makes it 500, and Tideline sends the event again; so does a secret of
    this product that is none.
    """
    signer = _signer_of(read_settings().need("WEBHOOK_SECRET"))
    try:
        event = _read_event(request, signer)
    except (WebhookVerificationError, ValueError) as error:
        # The library raises ValueError for headers and bodies that are no text.
        return HttpResponseBadRequest(str(error), content_type="text/plain")
    _handle_once(request.headers["webhook-id"], event)
    _forget_old_messages()
    return HttpResponse(status=204)


def _signer_of(secret: str) -> Webhook:
    """Raises: ImproperlyConfigured for a secret that is not in base64. The sender would take a 400
    for a fault of its own, and the operator of this product would see none.
    """
    try:
        return Webhook(secret)
    except (ValueError, RuntimeError) as error:
        raise ImproperlyConfigured(f"TIDELINE['WEBHOOK_SECRET'] is no secret: {error}") from None


def _read_event(request: HttpRequest, signer: Webhook) -> Event:
    """Raises: WebhookVerificationError, ValueError."""
    signer.verify(request.body, dict(request.headers.items()))
    return msgspec.json.decode(request.body, type=Event)


def _handle_once(message_id: str, event: Event) -> None:
    """Of two deliveries at once, the second one waits for the first one's transaction."""
    with transaction.atomic(using=router.db_for_write(ReceivedMessage)):
        _, is_new = ReceivedMessage.objects.get_or_create(id=message_id)
        if is_new:
            event_received.send(sender=Event, event=event)


def _forget_old_messages() -> None:
    ReceivedMessage.objects.filter(received_at__lt=now() - KEPT).delete()
