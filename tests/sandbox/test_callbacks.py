"""Callbacks: signed as set, retried on the schedule, kept over a crash, one slow merchant holding up nobody."""

import hashlib
import time
from collections.abc import Callable, Iterator

import pytest

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import buy, final
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]


def test_a_refused_callback_is_retried_on_the_schedule_with_the_same_delivery_id(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    merchant.answers.extend([500, 302])
    ref_id = ref()
    buy(sandbox, ref_id)
    first, second, third = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 3 else None) or []
    assert first.raw == second.raw == third.raw
    assert len({told.headers["X-Delivery-Id"] for told in (first, second, third)}) == 1
    assert second.at - first.at >= 0.3
    assert third.at - second.at >= 0.6
    kept = eventually(lambda: delivered(sandbox, ref_id))
    assert [tried["http_status"] for tried in kept["attempts"]] == [500, 302, 200]


def delivered(sandbox: SandboxProcess, ref_id: str) -> dict[str, list[dict[str, object]]]:
    [row] = sandbox.control("deliveries", ref_id=ref_id)["deliveries"]
    return row if row["state"] == "delivered" else {}


def test_it_gives_up_after_the_last_attempt_and_a_resend_starts_again(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    merchant.answers.extend([500] * 3)
    ref_id = ref()
    buy(sandbox, ref_id)
    eventually(lambda: sandbox.control("deliveries", ref_id=ref_id)["deliveries"][:1] and given_up(sandbox, ref_id))
    time.sleep(1)
    assert len(merchant.of(ref_id)) == 3
    resent = sandbox.control("resend", ref_id=ref_id)["delivery_id"]
    told = eventually(lambda: merchant.of(ref_id)[3:])
    assert told[0].headers["X-Delivery-Id"] == resent == merchant.of(ref_id)[0].headers["X-Delivery-Id"]


def given_up(sandbox: SandboxProcess, ref_id: str) -> bool:
    return bool(sandbox.control("deliveries", ref_id=ref_id)["deliveries"][0]["state"] == "given up")


def test_a_delivered_callback_can_be_sent_again(sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    eventually(lambda: merchant.of(ref_id))
    final(sandbox, ref_id)
    eventually(lambda: delivered(sandbox, ref_id))
    sandbox.control("resend", ref_id=ref_id)
    first, second = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert first.headers["X-Delivery-Id"] == second.headers["X-Delivery-Id"]


def test_signed_as_md5_of_the_ref_id(sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref) -> None:
    sandbox.control("account", callback_style="md5_ref")
    ref_id = ref()
    buy(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0]
    expected = hashlib.md5(f"{sandbox.secret_id}:{sandbox.secret_key}:{ref_id}".encode()).hexdigest()  # noqa: S324
    assert told.headers["X-Signature"] == expected


def test_not_signed_at_all(sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref) -> None:
    sandbox.control("account", callback_style="none")
    ref_id = ref()
    buy(sandbox, ref_id)
    assert "X-Signature" not in eventually(lambda: merchant.of(ref_id))[0].headers


def test_a_slow_answer_holds_up_no_other_callback(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    slow, quick = ref(), ref()
    merchant.slow[slow] = 3.0
    buy(sandbox, slow)
    eventually(lambda: merchant.of(slow))
    buy(sandbox, quick)
    told = eventually(lambda: merchant.of(quick))[0]
    assert told.at - merchant.of(slow)[0].at < 3.0


def test_callbacks_about_one_transaction_keep_their_order_however_slow_the_first_is(
    sandbox: SandboxProcess, merchant: CallbackReceiver, ref: Ref
) -> None:
    ref_id = ref()
    merchant.slow[ref_id] = 1.0
    buy(sandbox, ref_id, destination="081290000016")  # the true one, and 0.2 s later an older one
    first, second = eventually(lambda: merchant.of(ref_id) if len(merchant.of(ref_id)) == 2 else None) or []
    assert [told.body["data"]["status"] for told in (first, second)] == ["success", "pending"]
    assert second.at - first.at >= 1.0


def test_nobody_listening_is_an_attempt_without_an_answer(sandbox: SandboxProcess, ref: Ref) -> None:
    sandbox.control("account", callback_url="http://127.0.0.1:9/callbacks/upstream/")
    ref_id = ref()
    buy(sandbox, ref_id)
    attempts = eventually(
        lambda: [row["attempts"] for row in sandbox.control("deliveries", ref_id=ref_id)["deliveries"]][:1]
    )
    eventually(lambda: sandbox.control("deliveries", ref_id=ref_id)["deliveries"][0]["attempts"])
    tried = sandbox.control("deliveries", ref_id=ref_id)["deliveries"][0]["attempts"][0]
    assert tried["http_status"] is None
    assert "Connection" in tried["error"]
    assert attempts is not None


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "file:///etc/hostname", "javascript:1", "http:///x"])
def test_only_http_addresses_are_taken(sandbox: SandboxProcess, url: str) -> None:
    with pytest.raises(AssertionError, match="callback_url must be an http"):
        sandbox.control("account", callback_url=url)


@pytest.fixture
def own() -> Iterator[SandboxProcess]:
    """A sandbox that a test may end."""
    process = SandboxProcess.fresh("own", SANDBOX_SPEED="10", SANDBOX_CALLBACK_SCHEDULE="0.5,0.5,0.5,0.5,0.5,0.5")
    yield process
    process.remove()


def test_callbacks_survive_a_crash_of_the_sandbox(own: SandboxProcess, ref: Ref) -> None:
    receiver = CallbackReceiver()
    try:
        own.control("account", callback_url=receiver.url)
        waiting, in_the_air, pending = ref(), ref(), ref()
        receiver.slow[in_the_air] = 30.0
        buy(own, in_the_air)
        eventually(lambda: receiver.of(in_the_air))
        receiver.answers.append(500)
        buy(own, waiting)
        eventually(lambda: receiver.of(waiting))
        buy(own, pending)
        own.kill()
        receiver.slow.clear()
        own.restart()
        eventually(lambda: receiver.of(waiting)[1:] and receiver.of(in_the_air)[1:] and receiver.of(pending))
        assert len({told.headers["X-Delivery-Id"] for told in receiver.of(in_the_air)}) == 1
    finally:
        receiver.close()
