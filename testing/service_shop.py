"""Runs the made-up world through the real services: rows, entries and exchanges are real, only the clock is not."""

import datetime as dt
from typing import Any

import time_machine
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalogue.models import Brand, Category, Product
from gateway.models import Exchange
from gateway.services import next_number
from ledger import services as ledger
from purchases.models import Order
from purchases.services import Decision, apply_verdict
from purchases.services.sending import claim
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.orders import CALLBACK, POLL, STAFF, SUBMIT, answer, never_arrived, place, report
from testing.world import PRICES, Happening, World
from upstream.endpoints import Endpoint

START = dt.datetime(2026, 11, 20, 1, 0, tzinfo=dt.UTC)


def moment(seconds: float) -> dt.datetime:
    """The time so many seconds after the start."""
    return START + dt.timedelta(seconds=seconds)


def make_products() -> dict[int, Product]:
    """A product for every price of the world."""
    category = Category.objects.create(code="pulsa", name="Pulsa", type="prepaid")
    brand = Brand.objects.create(category=category, code="world", name="World")
    prices = [price + 25 * step for price in PRICES for step in range(3)]
    return {
        price: Product.objects.create(
            category=category,
            brand=brand,
            code=f"W{price}",
            name=f"World {price}",
            type="prepaid",
            price=price,
            availability="active",
        )
        for price in sorted(set(prices))
    }


class ServiceShop:
    """Does each happening with the real services, at its time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.products = make_products()
        self.orders: dict[str, Order] = {}
        self.numbers: dict[int, int] = {}
        self.runs = 0

    def live(self) -> None:
        """Live through the whole world: each request leaves at its time, and its answer comes at its own."""
        happenings = self.world.happenings()
        steps = [(what.asked, 0, what) for what in happenings if what.kind in {"read", "checked"}]
        steps += [(what.at, 1, what) for what in happenings]
        with time_machine.travel(START, tick=False) as clock:
            for at, is_seen, what in sorted(steps, key=lambda step: step[:2]):
                clock.move_to(moment(at))
                if is_seen:
                    self.see(what)
                else:
                    self.numbers[id(what)] = next_number()

    def see(self, what: Happening) -> None:
        """Do one happening."""
        order: Any = self.orders.get(what.ref_id)
        match what.kind:
            case "sent":
                self._send(what)
            case "answered":
                self._record(what, Endpoint.TRANSACTION_CREATE, self.numbers[id(order)])
                report(order, what.says, source=SUBMIT, price=what.price, asked_no=self.numbers[id(order)])
            case "lost":
                answer(order, Status.UNKNOWN)
            case "checked":
                self._record(what, Endpoint.TRANSACTION_STATUS, self.numbers[id(what)])
                if what.says != "nothing":
                    report(order, what.says, source=POLL, price=what.price, asked_no=self.numbers[id(what)])
            case "called_back":
                report(order, what.says, source=CALLBACK, price=what.price)
            case "never_arrived":
                never_arrived(order)
            case "closed":
                apply_verdict(order.pk, Decision(status=Status.CLOSED, source=STAFF))
            case "read":
                self._record(what, Endpoint.BALANCE, self.numbers[id(what)])
                if ledger.books().opened_at is None:
                    reconciliation.reconcile("reading")
            case "reconcile":
                reconciliation.reconcile()
                self.runs += 1

    def differences(self) -> list[tuple[int, float, float]]:
        """The differences that no order explains: (rupiah, from, to), in seconds of the world."""
        return [
            (
                difference.amount,
                (difference.from_at - START).total_seconds(),
                (difference.to_at - START).total_seconds(),
            )
            for difference in Difference.objects.filter(explained_by=None)
        ]

    def acknowledge_everything(self) -> None:
        """Take every open difference into the books, as two people would."""
        people = get_user_model().objects
        first, second = people.create_superuser("first"), people.create_user("second")
        for difference in Difference.objects.open():
            if difference.amount > 0:
                reconciliation.acknowledge_top_up(difference, actor=first)
            else:
                proposed = reconciliation.propose_adjustment(difference, actor=first, reason="spent in the dashboard")
                reconciliation.approve_adjustment(proposed, actor=second)

    def _send(self, what: Happening) -> None:
        order = place(self.products[what.price], destination=f"0812{len(self.orders):08d}")
        claimed = claim(order.pk)
        assert claimed is not None
        self.orders[what.ref_id] = claimed.order
        self.numbers[id(claimed.order)] = claimed.number

    def _record(self, what: Happening, endpoint: Endpoint, number: int) -> None:
        """Keep the exchange, as the gateway does before any code reads the answer."""
        facts: dict[str, Any] = {}
        if what.says != "nothing":
            order = self.orders[what.ref_id]
            facts = {"ref_id": order.ref_id, "trx_id": f"T-{order.ref_id}", "status": what.says}
        Exchange.objects.create(
            pk=number,
            answered_no=next_number(),
            endpoint=endpoint,
            sent_at=moment(what.asked),
            answered_at=timezone.now(),
            outcome="answer",
            balance=what.balance if endpoint != Endpoint.TRANSACTION_STATUS else None,
            **facts,
        )
