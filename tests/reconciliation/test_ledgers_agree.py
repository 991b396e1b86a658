"""After any acts of cashiers and of the sandbox's dashboard: once all is final, our books equal the sandbox's own
ledger."""

import uuid
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from catalogue.models import Product
from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from reconciliation.services.on_demand import reconcile_now
from testing.orders import place
from tests.conftest import Upstream
from upstream.budget import CallClass

# Succeeds, fails, cut, broken, cut before anything happened, callback first, price changed, cut-off, refused, 429.
MAGIC = [1, 4, 5, 8, 12, 13, 21, 23, 24]


def test_the_books_are_the_sandboxs_ledger_when_all_is_final(shop: Upstream, django_user_model: Any):
    first = django_user_model.objects.create_superuser("first")
    second = django_user_model.objects.create_superuser("second")
    product = Product.objects.get(name="Telkomsel 10.000")

    class Business(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.outside = 0
            self.found_before = sum(Difference.objects.values_list("amount", flat=True))

        @rule(number=st.sampled_from(MAGIC))
        def buy(self, number: int) -> None:
            destination = f"08{uuid.uuid4().int % 100:02d}900000{number:02d}"
            if Order.objects.open().filter(destination=destination).exists():
                return
            order = place(product, destination=destination, confirm_repeat=True)
            submit(order.pk, call_class=CallClass.INTERACTIVE)

        @rule(amount=st.sampled_from([1, 25, 777, 1_000_000]))
        def top_up(self, amount: int) -> None:
            shop.control("topup", amount=amount)
            self.outside += amount

        @rule(amount=st.sampled_from([1, 25, 9_999]))
        def spend_in_the_dashboard(self, amount: int) -> None:
            now = shop.process.control("ledger")["balance"]
            # Only while nothing else moves: the control API sets a balance, it cannot subtract from it.
            if not Order.objects.filter(status__in=["sending", "pending", "unknown"]).exists():
                shop.control("account", balance=now - amount)
                self.outside -= amount

        @rule()
        def look(self) -> None:
            reconcile_now(seconds=0)

        @precondition(lambda self: Difference.objects.open().exists())
        @rule()
        def acknowledge(self) -> None:
            for difference in Difference.objects.open():
                if difference.amount > 0:
                    reconciliation.acknowledge_top_up(difference, actor=first)
                else:
                    proposed = reconciliation.propose_adjustment(difference, actor=first, reason="dashboard")
                    reconciliation.approve_adjustment(proposed, actor=second)

        def teardown(self) -> None:
            for order in Order.objects.open().exclude(status=Status.NEEDS_ACTION):
                follow(order, seconds=15)
            assert not Order.objects.open().exclude(status=Status.NEEDS_ACTION).exists()
            reconcile_now(seconds=10)
            assert sum(Difference.objects.values_list("amount", flat=True)) == self.found_before + self.outside
            self.acknowledge()
            assert reconcile_now(seconds=10)[0].state == "balanced"

            theirs = shop.process.control("ledger")
            assert (ledger.books().balance, ledger.books().reserved) == (theirs["balance"], 0)
            spent = Counter((row["ref_id"], row["kind"], row["amount"]) for row in theirs["mutations"] if row["ref_id"])
            ours = Counter(
                Entry.objects.filter(kind__in=["debit", "refund"]).values_list("ref_id", "kind", "balance_change")
            )
            assert ours == spent

    run_state_machine_as_test(
        Business,
        settings=settings(
            max_examples=5,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
