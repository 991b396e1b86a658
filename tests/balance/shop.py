"""The made-up world, lived through the real services: real rows, real entries, real readings; only the clock is not."""

from __future__ import annotations

import datetime as dt
import uuid

import time_machine
from django.contrib.auth import get_user_model
from django.utils import timezone

from balance import services as balance
from balance.models import Difference, Reading
from purchases.models import Brand, Category, Order, OrderEvent, Product
from purchases.order_life import HoldReason, Status
from purchases.services import Outcome, apply_outcome, place_order
from purchases.services.sending import claim
from tests.balance.world import PRICES, Happening, World
from upstream.client import Answer
from upstream.messages import Balance, Transaction

START = dt.datetime(2026, 11, 20, 1, 0, tzinfo=dt.UTC)


def moment(seconds: float) -> dt.datetime:
    """That many seconds after the start."""
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
    """Does with the real services what a happening says, at its time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.products = make_products()
        self.orders: dict[str, Order] = {}
        self.runs = 0

    def live(self) -> None:
        """Live through the whole world."""
        with time_machine.travel(START, tick=False) as clock:
            for what in self.world.happenings():
                clock.move_to(moment(what.at))
                self.see(what)

    def see(self, what: Happening) -> None:
        """Do one thing."""
        match what.kind:
            case "sent":
                self._send(what)
            case "answered":
                order = self.orders[what.ref_id]
                balance.record_sending_reading(answer=self._answer(what), claimed_at=order.sent_at)
                self._report(what, OrderEvent.Source.SUBMIT)
            case "lost":
                self._apply(what, Outcome(status=Status.UNKNOWN), OrderEvent.Source.SUBMIT)
            case "checked":
                if what.says != "nothing":
                    balance.record_status_reading(answer=self._answer(what))
                    self._report(what, OrderEvent.Source.POLL)
            case "called_back":
                self._report(what, OrderEvent.Source.CALLBACK)
            case "never_arrived":
                outcome = Outcome(status=Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)
                self._apply(what, outcome, OrderEvent.Source.POLL)
            case "closed":
                self._apply(what, Outcome(status=Status.FAILED), OrderEvent.Source.STAFF)
            case "read":
                answer = Answer(
                    data=Balance(balance=what.balance), raw={}, sent_at=moment(what.asked), received_at=timezone.now()
                )
                balance.record_reading(balance=what.balance, source=Reading.Source.BALANCE, answer=answer)
                if balance.books().opened_at is None:
                    balance.reconcile("reading")
            case "reconcile":
                balance.reconcile()
                self.runs += 1

    def differences(self) -> list[tuple[int, float, float]]:
        """What was found: (rupiah, from, to), in seconds of the world."""
        return [
            (found.amount, (found.from_at - START).total_seconds(), (found.to_at - START).total_seconds())
            for found in Difference.objects.all()
        ]

    def acknowledge_everything(self) -> None:
        """Take every open difference into the books, as two people would."""
        people = get_user_model().objects
        first, second = people.create_user("first"), people.create_user("second")
        for found in Difference.objects.open():
            if found.amount > 0:
                balance.acknowledge_top_up(found, actor=first)
            else:
                proposed = balance.propose_adjustment(found, actor=first, reason="spent in the dashboard")
                balance.approve_adjustment(proposed, actor=second)

    def _send(self, what: Happening) -> None:
        product = self.products[what.price]
        order = place_order(
            product=product,
            destination=f"0812{len(self.orders):08d}",
            max_price=what.price,
            idempotency_key=str(uuid.uuid4()),
            placed_by=None,
            enqueue=False,
        )
        claimed = claim(order.pk)
        assert claimed is not None
        self.orders[what.ref_id] = claimed

    def _answer(self, what: Happening) -> Answer[Transaction]:
        return Answer(data=self._transaction(what), raw={}, sent_at=moment(what.asked), received_at=moment(what.at))

    def _transaction(self, what: Happening) -> Transaction:
        order = self.orders[what.ref_id]
        return Transaction.model_validate(
            {
                "trx_id": f"T-{order.ref_id}",
                "ref_id": order.ref_id,
                "product_code": order.product_code,
                "product_name": order.product_name,
                "destination": order.destination,
                "price": what.price,
                "status": what.says,
                "sn": "SN" if what.says == "success" else None,
                "message": what.says,
                "balance": what.balance,
            }
        )

    def _report(self, what: Happening, source: OrderEvent.Source) -> None:
        self._apply(what, Outcome.reported(self._transaction(what), raw={}), source)

    def _apply(self, what: Happening, outcome: Outcome, source: OrderEvent.Source) -> None:
        attempt = 1 if source == OrderEvent.Source.SUBMIT else None
        apply_outcome(self.orders[what.ref_id].pk, outcome, source=source, attempt=attempt)
