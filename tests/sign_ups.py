"""A registered application and a signed-up person, as clients see themselves."""

from dataclasses import dataclass
from typing import Any

from django.test import Client

FAST_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    "accounts.oauth.RandomSecretHasher",
]
OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
SCOPES = "read write follow push"
PASSWORD = "correct horse battery"


def bearer(token: str) -> dict[str, str]:
    return {"HTTP_AUTHORIZATION": f"Bearer {token}"}


@dataclass
class App:
    client: Client
    client_id: str
    client_secret: str

    @classmethod
    def register(cls, client: Client, scopes: str = SCOPES, uris: str = OUT_OF_BAND) -> "App":
        form = {"client_name": "Reader", "redirect_uris": uris, "scopes": scopes}
        made = client.post("/api/v1/apps", form).json()
        return cls(client, made["client_id"], made["client_secret"])

    @property
    def credentials(self) -> dict[str, str]:
        return {"client_id": self.client_id, "client_secret": self.client_secret}

    def ask_token(self, **form: str) -> Any:
        return self.client.post("/oauth/token", self.credentials | form)

    def own_token(self, scope: str = SCOPES) -> str:
        answer = self.ask_token(grant_type="client_credentials", scope=scope)
        return str(answer.json()["access_token"])

    def ask_sign_up(self, **form: object) -> Any:
        return self.client.post(
            "/api/v1/accounts", form, "application/json", **bearer(self.own_token())
        )

    def sign_up(self, username: str) -> "Person":
        answer = self.ask_sign_up(
            username=username, email=f"{username}@example.org", password=PASSWORD, agreement=True
        )
        return Person(self, username, answer.json()["access_token"])

    def log_in(self, username: str, scope: str = SCOPES) -> Any:
        return self.ask_token(
            grant_type="password", username=username, password=PASSWORD, scope=scope
        )

    def revoke(self, token: str) -> Any:
        return self.client.post("/oauth/revoke", self.credentials | {"token": token})


@dataclass
class Person:
    app: App
    username: str
    token: str

    @property
    def id(self) -> int:
        return int(self.verify().json()["id"])

    def verify(self) -> Any:
        return self.get("/api/v1/accounts/verify_credentials")

    def get(self, path: str) -> Any:
        return self.app.client.get(path, **bearer(self.token))

    def patch(self, path: str, **form: object) -> Any:
        return self.app.client.patch(path, form, "application/json", **bearer(self.token))
