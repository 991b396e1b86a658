"""A passkey in memory, which answers like a browser with a security key."""

import hashlib
import json
import secrets
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

FLAGS = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV


class SoftKey:
    """One key of one person at one site."""

    def __init__(self, host: str = "testserver") -> None:
        self.host = host
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(16)
        self.owner = b""

    def make(self, options: dict[str, Any]) -> str:
        """The result of `navigator.credentials.create` for these options."""
        self.owner = options["user"]["id"].encode()
        public = ES256.from_cryptography_key(self.key.public_key())
        data = AuthenticatorData.create(
            self._host_hash(),
            FLAGS | AuthenticatorData.FLAG.AT,
            0,
            AttestedCredentialData.create(b"\0" * 16, self.id, public),
        )
        client = self._client_data(CollectedClientData.TYPE.CREATE, options)
        made = AttestationObject.create("none", data, {})
        return self._answer(clientDataJSON=websafe_encode(client), attestationObject=websafe_encode(made))

    def sign(self, options: dict[str, Any], *, host: str = "", verified: bool = True) -> str:
        """The result of `navigator.credentials.get` for these options."""
        flags = FLAGS if verified else AuthenticatorData.FLAG.UP
        data = AuthenticatorData.create(self._host_hash(), flags, 0)
        client = self._client_data(CollectedClientData.TYPE.GET, options, host=host)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            clientDataJSON=websafe_encode(client),
            authenticatorData=websafe_encode(data),
            signature=websafe_encode(signature),
            userHandle=self.owner.decode() or None,
        )

    def sign_in(self, browser: Client, *, verified: bool = True, **fields: str) -> Any:
        """The answer of the page that a passkey alone signs in."""
        options = browser.post("/accounts/passkey/options/").json()["publicKey"]
        return browser.post("/accounts/passkey/", {"factor_assertion": self.sign(options, verified=verified), **fields})

    def _client_data(self, kind: str, options: dict[str, Any], *, host: str = "") -> bytes:
        facts = {"type": kind, "challenge": options["challenge"], "origin": f"https://{host or self.host}"}
        return json.dumps(facts).encode()

    def _host_hash(self) -> bytes:
        return hashlib.sha256(self.host.encode()).digest()

    def _answer(self, **response: Any) -> str:
        name = websafe_encode(self.id)
        facts = {"id": name, "rawId": name, "type": "public-key", "clientExtensionResults": {}, "response": response}
        return json.dumps(facts)
