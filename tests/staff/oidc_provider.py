"""A small provider of OpenID Connect over real HTTP, for tests: it signs the claims that a test gives it."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth import SESSION_KEY
from django.test import Client

from staff.models import User

CLIENT, SECRET = "the-shop", "of-the-shop-and-nobody-else"


class OidcProvider:
    """`claims`: the next person's claims; `forged`: whether it signs with a key that it does not publish; `cancels`:
    whether the person goes back without a sign-in."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._codes: dict[str, dict[str, str]] = {}
        self.reset()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if urlsplit(self.path).path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", provider.way_back(self.path))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                self.answer(provider.get(urlsplit(self.path).path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.answer(provider.token({name: values[0] for name, values in parse_qs(body).items()}))

            def answer(self, found: dict[str, Any] | None) -> None:
                body = json.dumps(found or {}).encode()
                self.send_response(200 if found else 400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def reset(self) -> None:
        """Behave as a provider should."""
        self.claims: dict[str, Any] = {}
        self.forged = False
        self.cancels = False
        self.algorithm = "RS256"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def sign_in(self, address: str) -> str:
        """The address to which the provider sends the browser back, for this request of ours."""
        target = urlsplit(self.way_back(address))
        return f"{target.path}?{target.query}"

    def way_back(self, address: str) -> str:
        """The same address with its host, as a real browser gets it."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["code_challenge_method"] == "S256"
        if self.cancels:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def get(self, path: str) -> dict[str, Any] | None:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
            return {"keys": [public | {"kid": "one", "use": "sig", "alg": "RS256"}]}
        return None

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """The ID token for a code, once, and only with the client's secret and PKCE's verifier."""
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"] or form.get("client_secret") != SECRET:
            return None
        now = int(time.time())
        says = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"]} | self.claims
        key: Any = self._other if self.forged else self._key
        if self.algorithm == "none":
            key = None
        elif self.algorithm == "HS256":
            key = "guessed-and-long-enough-for-a-shared-key"
        token = jwt.encode(says, key, algorithm=self.algorithm, headers={"kid": "one"})
        return {"access_token": "unused", "token_type": "Bearer", "id_token": token}


START, CALLBACK = "/accounts/oidc/", "/accounts/oidc/callback/"
SIGN_IN = "/accounts/login/"
SARI = {"sub": "s-1", "preferred_username": "sari", "name": "Bu Sari", "groups": ["kasir"]}


# The shop's roles for the groups of the provider's people.
ROLES = {"kasir": "cashier", "spv": "supervisor", "audit": "auditor", "kepala": "administrator", "pemilik": "owner"}


def come_back(provider: OidcProvider, browser: Client, start: str = START) -> Any:
    """Go to the provider and come back."""
    return browser.get(provider.sign_in(browser.get(start)["Location"]))


def signed_in(provider: OidcProvider, browser: Client | None = None, **claims: Any) -> User | None:
    """The person who is signed in after a visit to the provider; None if nobody is."""
    provider.claims |= claims
    browser = browser or Client()
    come_back(provider, browser)
    key = browser.session.get(SESSION_KEY)
    return User.objects.get(pk=key) if key else None


def refusal(provider: OidcProvider, **claims: Any) -> str:
    """The code of the refusal; asserts that nobody is signed in."""
    browser = Client()
    assert signed_in(provider, browser, **claims) is None
    return next(iter(browser.get(SIGN_IN).context["messages"])).extra_tags
