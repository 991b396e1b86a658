"""The only provider of OpenID Connect that settings may name, on allauth's client: nonce, PKCE, signed tokens only."""

from __future__ import annotations

import hmac
import secrets
import time
from typing import Any

import jwt
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

KEY = "oidc"
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_REQUIRED = ["iss", "aud", "exp", "iat", "sub"]
_LEEWAY = 60
_LONGEST_SUBJECT = 191
# A provider's description is kept for this many seconds, so that strangers cannot make us fetch it each time.
_KEPT = 300
_known: dict[str, tuple[float, dict[str, Any]]] = {}


class OneProvider(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """allauth's adapter: only the provider of the settings, none of the database; nobody signs up or is connected."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        """The provider of the settings, if there is one."""
        return [_app()] if settings.OIDC_ISSUER else []

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Always False: an account begins in `staff.services.outside`."""
        return False


class ProviderAnswers(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The exchange of codes, and the checks of an ID token."""

    def __init__(self, request: HttpRequest, provider_id: str = KEY) -> None:
        super().__init__(request, provider_id)

    def get_provider(self) -> Provider:
        return Provider(self.request, app=_app())

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's description of itself; it has to be the provider of the settings. Raises `OAuth2Error`."""
        asked_at, config = _known.get(settings.OIDC_ISSUER, (0.0, {}))
        if not config or time.monotonic() - asked_at > _KEPT:
            config = _fetched(self.get_provider().server_url)
            if config.get("issuer") != settings.OIDC_ISSUER:
                raise OAuth2Error("the provider calls itself otherwise")
            scheme = settings.OIDC_ISSUER.partition(":")[0]
            if not all(str(config.get(name, "")).startswith(("https://", f"{scheme}://")) for name in _ENDPOINTS):
                raise OAuth2Error("the provider has no safe addresses")
            _known[settings.OIDC_ISSUER] = (time.monotonic(), config)
        return config

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Our address for the provider's answer."""
        base = settings.SITE_URL.rstrip("/") or request.build_absolute_uri("/").rstrip("/")
        return base + reverse("oidc_callback")

    def claims(self, state: dict[str, Any]) -> dict[str, Any]:
        """The claims of the signed ID token for the code of a returning person.

        Raises `OAuth2Error`, `requests.RequestException`, `jwt.PyJWTError`, or `ValueError` and similar errors for an
        answer that is not understood.
        """
        app = _app()
        client = self.get_client(self.request, app)
        answer = self.get_access_token_data(self.request, app, client, pkce_code_verifier=state["pkce_code_verifier"])
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise OAuth2Error("no ID token")
        id_claims = jwt.decode(
            token,
            self._key(token),
            algorithms=_ALGORITHMS,
            audience=settings.OIDC_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            leeway=_LEEWAY,
            options={"require": _REQUIRED},
        )
        if not hmac.compare_digest(str(id_claims.get("nonce", "")).encode(), state["nonce"].encode()):
            raise OAuth2Error("another nonce")
        if id_claims.get("azp", settings.OIDC_CLIENT_ID) != settings.OIDC_CLIENT_ID:
            raise OAuth2Error("a token for somebody else")
        if not (id_claims["sub"].isprintable() and 0 < len(id_claims["sub"]) <= _LONGEST_SUBJECT):
            raise OAuth2Error("no usable subject")
        return id_claims

    def _key(self, token: str) -> jwt.PyJWK:
        keys = jwt.PyJWKSet.from_dict(_fetched(self.openid_config["jwks_uri"])).keys
        name = jwt.get_unverified_header(token).get("kid")
        usable = [key for key in keys if key.public_key_use in {None, "sig"} and name in {None, key.key_id}]
        if len(usable) != 1:
            raise OAuth2Error("no such key")
        return usable[0]


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """allauth's provider, with `ProviderAnswers` as its adapter."""

    oauth2_adapter_class = ProviderAnswers


def way_to_provider(request: HttpRequest, *, next_url: str | None) -> HttpResponse:
    """Send the browser to the provider; state, nonce and PKCE's verifier stay in the session.

    Raises `OAuth2Error` or `requests.RequestException`.
    """
    ProviderAnswers(request).openid_config  # noqa: B018 - fetched where its faults are caught
    nonce = secrets.token_urlsafe(32)
    provider = Provider(request, app=_app())
    answer: HttpResponse = provider.redirect(
        request, "login", next_url=next_url, auth_params={"nonce": nonce}, nonce=nonce
    )
    return answer


def _app() -> SocialApp:
    return SocialApp(
        provider="openid_connect",
        provider_id=KEY,
        name=settings.OIDC_NAME,
        client_id=settings.OIDC_CLIENT_ID,
        secret=settings.OIDC_CLIENT_SECRET,
        settings={
            "server_url": settings.OIDC_ISSUER.rstrip("/"),
            "oauth_pkce_enabled": True,
            "scope": ["openid", "profile"],
        },
    )


def _fetched(address: str) -> dict[str, Any]:
    with get_adapter().get_requests_session() as session:
        answer = session.get(address)
        answer.raise_for_status()
        config = answer.json()
    if not isinstance(config, dict):
        raise OAuth2Error("not an object")
    return config
