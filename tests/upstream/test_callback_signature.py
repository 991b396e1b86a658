"""Each of the three verifiers accepts only genuine callbacks."""

import hashlib
import hmac

import pytest

from upstream.callback_signature import Incoming, signs, verify
from upstream.errors import Misconfigured

BODY = b'{"event":"transaction.success"}'
HMAC = hmac.new(b"key", BODY, hashlib.sha256).hexdigest()
MD5 = hashlib.md5(b"id:key:R1").hexdigest()  # noqa: S324 (the upstream's formula)


def check(verifier: str, header: str, *, body: bytes = BODY, key: str = "key", ref_id: str | None = "R1") -> bool:
    headers = {"X-Signature": header}
    return verify(verifier, Incoming(secret_id="id", secret_key=key, headers=headers, body=body, ref_id=ref_id))


def test_a_genuine_callback_passes() -> None:
    for verifier, header in (
        ("hmac_sha256_body", HMAC),
        ("hmac_sha256_body", f" {HMAC.upper()} "),
        ("md5_ref", MD5),
        ("none", ""),
    ):
        assert check(verifier, header), (verifier, header)


def test_a_wrong_header_and_a_changed_byte_or_key_or_ref_id_fail() -> None:
    for verifier, genuine, other in (("hmac_sha256_body", HMAC, MD5), ("md5_ref", MD5, HMAC)):
        for header in ("", "0" * 64, genuine[:-1], "é", "\udcff", HMAC + MD5, other):
            assert not check(verifier, header), (verifier, ascii(header))
    assert not check("hmac_sha256_body", HMAC, body=BODY + b" ")
    assert not check("hmac_sha256_body", HMAC, key="other")
    assert not check("md5_ref", MD5, ref_id="R2")
    assert not check("md5_ref", MD5, ref_id=None)
    empty_key = hmac.new(b"", BODY, hashlib.sha256).hexdigest()  # without a key nobody can sign
    assert not check("hmac_sha256_body", empty_key, key="")


def test_only_a_signature_over_the_status_may_settle_an_order() -> None:
    assert [signs(name) for name in ("hmac_sha256_body", "md5_ref", "none")] == [True, False, False]


def test_an_unknown_verifier_is_misconfigured() -> None:
    with pytest.raises(Misconfigured):
        check("sha1", HMAC)
    with pytest.raises(Misconfigured):
        signs("")
