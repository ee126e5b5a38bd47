"""`manage.py make_tideline_key`: the key that signs the JWTs of the product's people."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import now
from jwt.algorithms import ECAlgorithm


class Command(BaseCommand):
    help = (
        "Writes a new private key for TIDELINE['SIGNING_KEY'], and the public one that Tideline's "
        "`issuers trust --keys` takes. It replaces no file."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--private", type=Path, default=Path("tideline-private.json"))
        parser.add_argument("--public", type=Path, default=Path("tideline-keys.json"))

    def handle(self, *_: Any, private: Path, public: Path, **__: Any) -> None:
        if existing := [str(path) for path in (private, public) if path.exists()]:
            raise CommandError(f"{existing[0]} exists already")
        key = generate_private_key(SECP256R1())
        marks = {"kid": f"{now():%Y-%m-%d}", "alg": "ES256", "use": "sig"}
        private.touch(mode=0o600)
        private.write_bytes(_encode(ECAlgorithm.to_jwk(key, as_dict=True) | marks))
        keys = {"keys": [ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | marks]}
        public.write_bytes(_encode(keys))
        self.stdout.write(f"{private} is secret; {public} is for issuers trust --keys")


def _encode(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"
