"""JSON that two parsers could read differently is refused."""

import pytest

from upstream.strict_json import NotStrictJson, loads


def test_ambiguous_or_unstorable_json_is_refused() -> None:
    for body in (
        b"",
        b"{",
        b"{} {}",
        b'{"a":1,"a":1}',
        b'{"b":{"a":1,"a":2}}',
        b"NaN",
        b"-Infinity",
        b"1e400",
        b"9" * 65,
        rb'"\u0000"',
        rb'{"\u0000":1}',
        rb'"\ud800"',
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b"[" * 40 + b"]" * 40,
        b'{"a":' * 40 + b"1" + b"}" * 40,
    ):
        with pytest.raises(NotStrictJson):
            pytest.fail(f"{body[:30]!r} is read as {loads(body)}")


def test_ordinary_json_is_read_with_its_fractions() -> None:
    body = '{"a":[1,-2,1.5,true,null,"é😀\\n"],"sn":12345678901234567890}'.encode()
    assert loads(body) == {"a": [1, -2, 1.5, True, None, "é😀\n"], "sn": 12345678901234567890}
