"""Callbacks are sent again on the schedule and survive a crash; a slow answer delays no other transaction."""

import psycopg

from testing.sandbox_process import eventually
from tests.sandbox.calls import callbacks, new_ref


def in_state(sandbox, ref_id, state):
    """The only delivery of a ref_id, once it is in this state."""
    return eventually(lambda: next((row for row in sandbox.deliveries(ref_id) if row["state"] == state), None))


def test_a_refused_callback_is_sent_again_on_the_schedule(sandbox, merchant):
    ref_id = new_ref()
    merchant.answers.extend([500, 302])
    sandbox.buy(ref_id)

    first, second, third = callbacks(merchant, ref_id, 3)

    assert first.raw == second.raw == third.raw
    assert len({received.headers["X-Delivery-Id"] for received in (first, second, third)}) == 1
    assert second.at - first.at >= 0.3
    assert third.at - second.at >= 0.6
    attempts = in_state(sandbox, ref_id, "delivered")["attempts"]
    assert [tried["http_status"] for tried in attempts] == [500, 302, 200]


def test_a_callback_given_up_is_resent_with_its_delivery_id(sandbox, merchant):
    ref_id = new_ref()
    merchant.answers.extend([500] * 3)
    sandbox.buy(ref_id)
    given_up = in_state(sandbox, ref_id, "given up")
    assert (len(given_up["attempts"]), given_up["next_attempt_at"]) == (3, None)

    resent = sandbox.control("resend", ref_id=ref_id)["delivery_id"]

    received = callbacks(merchant, ref_id, 4)
    assert {each.headers["X-Delivery-Id"] for each in received} == {resent}
    in_state(sandbox, ref_id, "delivered")


def test_resend_of_a_transaction_without_callback_sends_a_first(sandbox, merchant):
    ref_id = new_ref()
    sandbox.buy(ref_id, 15)
    sandbox.final(ref_id)

    sandbox.control("resend", ref_id=ref_id)

    assert callbacks(merchant, ref_id)[0].body["data"]["status"] == "success"


def test_a_slow_answer_delays_no_other_transaction(sandbox, merchant):
    slow, quick = new_ref(), new_ref()
    merchant.slow[slow] = 5.0
    sandbox.buy(slow)
    callbacks(merchant, slow)

    sandbox.buy(quick)

    callbacks(merchant, quick)
    assert sandbox.deliveries(slow)[0]["attempts"] == []


def test_a_slow_answer_keeps_the_order_within_a_transaction(sandbox, merchant):
    ref_id = new_ref()
    merchant.slow[ref_id] = 0.5
    # the true callback, and 0.1 s later an older one
    sandbox.buy(ref_id, 16)

    first, second = callbacks(merchant, ref_id, 2)

    assert [received.body["data"]["status"] for received in (first, second)] == ["success", "pending"]
    assert second.at - first.at >= 0.5


def test_nobody_listening_is_an_attempt_without_an_answer(sandbox):
    ref_id = new_ref()
    sandbox.control("account", callback_url="http://127.0.0.1:9/callbacks/upstream/")
    sandbox.buy(ref_id)

    tried = eventually(lambda: [tried for row in sandbox.deliveries(ref_id) for tried in row["attempts"]])[0]

    assert (tried["http_status"], "Connection" in tried["error"]) == (None, True)


def test_a_fault_of_the_database_loses_no_callback(sandbox, merchant):
    ref_id = new_ref()
    logged = len(sandbox.log.read_text())

    def lose_the_table(_received):
        merchant.refuses = lambda received: False
        database.execute("ALTER TABLE sandbox_delivery RENAME TO away")
        return False

    with psycopg.connect(sandbox.database_url, autocommit=True) as database:
        merchant.refuses = lose_the_table
        sandbox.buy(ref_id)
        try:
            eventually(lambda: "failed inside the sandbox" in sandbox.log.read_text()[logged:])
        finally:
            database.execute("ALTER TABLE away RENAME TO sandbox_delivery")

    in_state(sandbox, ref_id, "delivered")
    assert len({received.headers["X-Delivery-Id"] for received in callbacks(merchant, ref_id, 2)}) == 1


def test_a_crash_of_the_sandbox_loses_no_callback(sandbox, merchant):
    refused, in_flight, unsettled = new_ref(), new_ref(), new_ref()
    merchant.slow[in_flight] = 30.0
    merchant.refuses = lambda received: received.body["data"]["ref_id"] == refused
    sandbox.buy(in_flight)
    callbacks(merchant, in_flight)
    sandbox.buy(refused)
    callbacks(merchant, refused)
    sandbox.buy(unsettled)
    sandbox.kill()
    merchant.slow.clear()
    merchant.refuses = lambda received: False

    sandbox.restart()

    assert len({received.headers["X-Delivery-Id"] for received in callbacks(merchant, in_flight, 2)}) == 1
    for ref_id in (refused, in_flight, unsettled):
        in_state(sandbox, ref_id, "delivered")
