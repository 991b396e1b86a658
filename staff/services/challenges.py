"""The challenge that a passkey signs: for one person, one act and exactly its content, valid once for five minutes.

It carries its own proof, so that nothing is stored until one is used.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import secrets
import struct
from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from core import clock
from staff.models import SpentChallenge

VALID_SECONDS = 300
_HEAD = struct.Struct(">Q24s")


def make_challenge(*, person: object, act: str, content: Mapping[str, object]) -> bytes:
    """A new challenge; `person`: the key, or None before sign-in."""
    head = _HEAD.pack(int(clock.now().timestamp()) + VALID_SECONDS, secrets.token_bytes(24))
    return head + _proof(head, person, act, content)


def spend_challenge(challenge: bytes, *, person: object, act: str, content: Mapping[str, object]) -> bool:
    """Whether it was made for this, has not expired and was not used before. From now on it was."""
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
