"""Passkeys (WebAuthn) on top of fido2: the questions to the browser, and the check of its answers.

A challenge is for one person, one act and exactly its content, and valid once for five minutes. It contains its own
proof, so that nothing is stored until a challenge is used.
"""

import datetime as dt
import hashlib
import hmac
import json
import secrets
import struct
from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import pgettext_lazy
from fido2.server import Fido2Server
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    RegistrationResponse,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from audit.acts import act
from core import clock
from staff.allauth_internals import WebAuthn
from staff.models import SpentChallenge, User

SIGN_IN = act("sign_in", pgettext_lazy("audit", "Sign in"))
ADD = act("add_passkey", pgettext_lazy("audit", "Add a passkey"))
_NOTHING: Mapping[str, object] = {}
VALID_SECONDS = 300
_HEAD = struct.Struct(">Q24s")
# The errors of fido2 for an answer that no browser makes.
_UNREADABLE = (AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error)


class NotThisKey(Exception):
    """The browser's answer is no proof: another key, another page, too late, or a second use."""


def ask_for_new(person: User, *, host: str) -> dict[str, Any]:
    """The input of `navigator.credentials.create` for a new key of this person."""
    options, _state = _server(host).register_begin(
        PublicKeyCredentialUserEntity(name=person.username, id=str(person.pk).encode(), display_name=person.shown_name),
        credentials=[data for _key, data in _keys_of(person)],
        resident_key_requirement=ResidentKeyRequirement.PREFERRED,
        user_verification=UserVerificationRequirement.PREFERRED,
        challenge=make_challenge(person=person.pk, act=ADD, content=_NOTHING),
    )
    return dict(options)


def add_passkey(person: User, answer: str, *, host: str, name: str) -> Authenticator:
    """Keep the key that the browser made. Raises `NotThisKey`."""
    response = _read(answer)
    try:
        challenge = RegistrationResponse.from_dict(response).response.client_data.challenge
        state = _state(challenge, UserVerificationRequirement.PREFERRED)
        _server(host).register_complete(state, response)
    except _UNREADABLE as fault:
        raise NotThisKey from fault
    if not spend_challenge(challenge, person=person.pk, act=ADD, content=_NOTHING):
        raise NotThisKey
    return WebAuthn.add(person, name, response).instance


def ask_for_key(person: User | None, *, host: str, act: str, content: Mapping[str, object]) -> dict[str, Any]:
    """The input of `navigator.credentials.get`. Without a person, any passkey of this site may answer: a sign-in."""
    options, _state = _server(host).authenticate_begin(
        credentials=[data for _key, data in _keys_of(person)] if person else None,
        user_verification=_verification(person),
        challenge=make_challenge(person=person.pk if person else None, act=act, content=content),
    )
    return dict(options)


def check_key(person: User | None, answer: str, *, host: str, act: str, content: Mapping[str, object]) -> Authenticator:
    """The key that signed the challenge for exactly this. Without a person: any person's key. Raises `NotThisKey`."""
    response = _read(answer)
    try:
        parsed = AuthenticationResponse.from_dict(response)
        owner = person or _owner_of(parsed)
        keys = _keys_of(owner)
        state = _state(parsed.response.client_data.challenge, _verification(person))
        used = _server(host).authenticate_complete(state, [data for _key, data in keys], response)
    except (*_UNREADABLE, User.DoesNotExist) as fault:
        raise NotThisKey from fault
    key = person.pk if person else None
    if not spend_challenge(parsed.response.client_data.challenge, person=key, act=act, content=content):
        raise NotThisKey
    return next(key for key, data in keys if data.credential_id == used.credential_id)


def _owner_of(answer: AuthenticationResponse) -> User:
    person: User = User.objects.get(pk=int((answer.response.user_handle or b"").decode()), is_active=True)
    return person


def _keys_of(person: User) -> list[tuple[Authenticator, AttestedCredentialData]]:
    keys = Authenticator.objects.filter(user_id=person.pk, type=Authenticator.Type.WEBAUTHN)
    return [(key, key.wrap().authenticator_data.credential_data) for key in keys.order_by("pk")]


def _verification(person: User | None) -> UserVerificationRequirement:
    """A passkey that replaces the password has to ask for a finger, a face or its PIN."""
    return UserVerificationRequirement.PREFERRED if person else UserVerificationRequirement.REQUIRED


def _state(challenge: bytes, verification: UserVerificationRequirement) -> dict[str, Any]:
    return {"challenge": websafe_encode(challenge), "user_verification": verification}


def _server(host: str) -> Fido2Server:
    return Fido2Server(PublicKeyCredentialRpEntity(name=settings.SHOP_NAME, id=host))


def _read(answer: str) -> dict[str, Any]:
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError) as fault:
        raise NotThisKey from fault
    if not isinstance(data, dict):
        raise NotThisKey
    return data


def make_challenge(*, person: object, act: str, content: Mapping[str, object]) -> bytes:
    """A new challenge; `person`: the key, or None before sign-in."""
    head = _HEAD.pack(int(clock.now().timestamp()) + VALID_SECONDS, secrets.token_bytes(24))
    return head + _proof(head, person, act, content)


def spend_challenge(challenge: bytes, *, person: object, act: str, content: Mapping[str, object]) -> bool:
    """Whether the challenge was made for this, has not expired and was never used; if so, it is used up now."""
    head, proof = challenge[: _HEAD.size], challenge[_HEAD.size :]
    if len(head) != _HEAD.size or not hmac.compare_digest(proof, _proof(head, person, act, content)):
        return False
    ends_at = _HEAD.unpack(head)[0]
    if ends_at <= clock.now().timestamp():
        return False
    row = SpentChallenge(
        digest=hashlib.sha256(challenge).hexdigest(), expires_at=dt.datetime.fromtimestamp(ends_at, dt.UTC)
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def _proof(head: bytes, person: object, act: str, content: Mapping[str, object]) -> bytes:
    """Values are compared as the text that a form sends."""
    facts = json.dumps({name: str(value) for name, value in content.items()}, sort_keys=True)
    bound = json.dumps([str(person), act, facts])
    return salted_hmac("staff.challenge" + head.hex(), bound, algorithm="sha256").digest()
