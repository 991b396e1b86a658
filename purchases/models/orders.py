"""An order, and how orders are found. Only `purchases.services` changes a status."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Self

import pgtrigger
from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import F, OuterRef, Q
from django.db.models.functions import Coalesce, Reverse, Upper
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from catalogue.models import Product
from core.numbers import erased_number, erased_serial
from core.rights import Right
from core.search import MOST_CLOSELY, MOST_FOUND, found_by
from core.triggers import never_truncated, stays_erased
from drawers.models import Payment
from drawers.models.payments import owed
from policies.services import policies
from purchases.models.finding import REF_ID_ENDS, SN_BEGINS, but_by_number, ways_to
from purchases.models.order_triggers import ended_for_good, sold_for_one_price
from purchases.states import FINAL, OPEN, POLLED, UNFULFILLED, ActionReason, Status, allowed_moves

_FORGOTTEN_AT_ONCE = 1000
# `Order.customer_pays` and `Order.shown_price` as expressions for queries. Rupiah.
CUSTOMER_PAYS = Coalesce("selling_price", "price", "max_price")
SHOP_PAYS = Coalesce("price", "max_price")

# These have a due time, to be sent or polled. An order that seems never to have arrived may still arrive late.
_DUE_SOME_TIME = Q(status__in=sorted(POLLED | {Status.QUEUED})) | Q(
    status=Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED
)


def may_be_charged(order: str = "") -> Q:
    """The condition that an order was sent and nothing more is known of it. `order`: the lookup to it ("order__")."""
    return Q(**{f"{order}sent_no__isnull": False, f"{order}accepted_no": None, f"{order}final_at": None})


def _unsent(lately: Any) -> Q:
    return Q(status=Status.QUEUED, attempt__gte=3, created_at__lt=lately)


def late_since() -> dict[str, dt.datetime]:
    """The times before which an order counts as late now: the arguments of `OrderQuerySet.stuck`."""
    now = timezone.now()
    verdict_after = dt.timedelta(minutes=policies().order_verdict_after_minutes)
    return {"lately": now - dt.timedelta(minutes=2), "verdict_from": now - verdict_after}


# A list shows the same orders again and again, and Django takes long to make an address.
@lru_cache(maxsize=4096)
def _address_of(ref_id: str) -> str:
    return reverse("order_detail", args=[ref_id])


class OrderQuerySet(models.QuerySet["Order"]):
    def open(self) -> OrderQuerySet:
        """Orders that are not final."""
        return self.filter(status__in=OPEN)

    def for_table(self) -> OrderQuerySet:
        """The orders with everything that the columns of `OrderTable` show, read at once."""
        return self.select_related("product").with_tags()

    def with_tags(self) -> OrderQuerySet:
        """The orders, each with the names of its tags as `tag_names`."""
        tags = Order.tags.through.objects.filter(order=OuterRef("pk")).order_by("tag__name")
        return self.annotate(tag_names=ArraySubquery(tags.values("tag__name")))  # type: ignore[no-redef] # named below

    def with_payment(self) -> OrderQuerySet:
        """The orders with everything that a receipt, or a row of the file, shows of them, read at once."""
        return self.select_related("product", "placed_by", "payment__debt__account__customer")

    def stuck(self, *, lately: Any, verdict_from: Any) -> OrderQuerySet:
        """Open orders that go no further without a person: they need action, or have had no result for too long.

        An order sent before `lately` is late; the upstream has left one sent before `verdict_from` open for too long.
        """
        return self.open().filter(
            Q(status=Status.NEEDS_ACTION)
            | Q(status=Status.UNKNOWN, sent_at__lt=lately)
            | _unsent(lately)
            | Q(status=Status.PENDING, sent_at__lt=verdict_from)
        )

    def unsent(self, *, lately: Any) -> OrderQuerySet:
        """The `stuck` orders that are queued: several tries have sent nothing."""
        return self.filter(_unsent(lately))

    def need_attention(self) -> OrderQuerySet:
        """Orders that wait for a person: stuck ones, those with an open verdict, and reversed ones whose money is owed
        to the customer."""
        undecided = Order.objects.filter(verdicts__isnull=False, verdicts__decided_at=None).values("pk")
        late = Order.objects.stuck(**late_since())
        unpaid = Order.objects.filter(owed("payment__"), status=Status.REVERSED)
        # Each part uses its own index: joined by OR, PostgreSQL would read every order.
        return self.filter(pk__in=late.values("pk").union(unpaid.values("pk"), undecided, all=True))

    def polled(self) -> OrderQuerySet:
        """Orders that the upstream has or may have, also those that seem never to have arrived."""
        return self.filter(_DUE_SOME_TIME).exclude(status=Status.QUEUED)

    def due(self, now: dt.datetime) -> OrderQuerySet:
        """Orders to be sent or polled now, oldest due first."""
        return self.filter(next_poll_at__lte=now).order_by("next_poll_at", "pk")

    def matching(
        self, text: str, *, by_part: bool = True, closely: bool = False, noted: Collection[int] = ()
    ) -> OrderQuerySet:
        """Orders whose trx_id is this text, or whose ref_id, destination or SN begins with it; a ref_id or destination
        may also end with it. And orders whose payment has exactly this number on its slip.

        Without `by_part`: only the full destination, and the full SN or all of it before the first "/". This is for
        people who may not see the destination, which an SN may name: they could try digit after digit.
        `closely`: only matches that few of millions of orders share: a full value, the end of a destination (at least
        `LEAST_END` digits) or of a ref_id, or the beginning of a ref_id (at least `LEAST_OF_REF_ID` letters) or of an
        SN (at least `LEAST_OF_SN`). `noted`: keys of orders that match as well.
        """
        ways = ways_to(text, Order.objects.all(), by_part=by_part, closely=closely)
        if noted:
            ways.append(Order.objects.filter(pk__in=noted))
        found = self.filter(found_by(*ways, most=MOST_CLOSELY if closely else MOST_FOUND))
        # Not as part of the ways, so that an index alone answers each of them.
        return found.filter(Q(number_erased=False) | but_by_number(text, noted))

    def forget_number(self) -> int:
        """Mask the numbers and SNs of these orders for everybody (`Order.number_erased`); returns how many orders.

        A statement takes a thousand keys and changes nothing else. Call it in a transaction.
        """
        count, last = 0, 0
        while True:
            rows = self.filter(number_erased=False, pk__gt=last).order_by("pk").select_for_update(no_key=True)
            keys = list(rows.values_list("pk", flat=True)[:_FORGOTTEN_AT_ONCE])
            if not keys:
                return count
            count, last = count + Order.objects.filter(pk__in=keys).update(number_erased=True), keys[-1]


class Order(models.Model):
    """Something that spends money at the upstream, exactly once. Amounts in whole rupiah."""

    class Kind(models.TextChoices):
        PURCHASE = "purchase", _("Purchase")
        BILL = "bill", _("Bill payment")

    ref_id = models.CharField(
        max_length=64, unique=True, help_text="Ours; made before anything is sent, never replaced."
    )
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.PURCHASE)
    idempotency_key = models.CharField(max_length=64, unique=True, help_text="One per confirmed form or command.")
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="orders")
    product_code = models.CharField(max_length=100)
    product_name = models.CharField(max_length=1000)
    destination = models.CharField(max_length=64)
    number_erased = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its customer was erased: no page and no file shows the number whole any more.",
    )
    max_price = models.BigIntegerField(help_text="Rupiah: the price that was seen and confirmed; sent as `max_price`.")
    price = models.BigIntegerField(null=True, help_text="Rupiah: what the upstream charged; empty until it says.")

    # The customer's price does not limit the upstream's charge: `max_price` does.
    selling_price = models.BigIntegerField(
        null=True, help_text="Rupiah: what the customer pays, all included; empty of orders from before price rules."
    )
    fee = models.BigIntegerField(
        null=True, help_text="Rupiah: the shop's own, part of a bill's selling price; empty of a purchase."
    )

    payment = models.OneToOneField(
        Payment, on_delete=models.PROTECT, related_name="order", help_text="How the customer pays."
    )

    status = models.CharField(max_length=12, choices=Status.choices, default=Status.QUEUED)
    action_reason = models.CharField(max_length=20, blank=True, choices=ActionReason.choices)
    error_code = models.CharField(max_length=40, blank=True, help_text="The upstream's last error code for it.")
    message = models.CharField(max_length=1000, blank=True, help_text="The upstream's own words.")
    trx_id = models.CharField(max_length=100, blank=True)
    sn = models.CharField(max_length=4000, blank=True)
    sn_by_hand = models.BooleanField(default=False, help_text="People entered the SN; the upstream has not said it.")

    tags = models.ManyToManyField("purchases.Tag", related_name="orders")

    # the index `order_by_person` has this key, with the time
    placed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    waits_for_topup = models.BooleanField(
        default=False,
        help_text="If the balance is too low, it waits, and is queued by itself once the balance is enough.",
    )
    sent_at = models.DateTimeField(null=True, help_text="When it was last claimed for sending.")
    final_at = models.DateTimeField(null=True)

    attempt = models.IntegerField(default=0, help_text="How often it was claimed; an answer to an older claim is void.")
    # Numbers of the gateway's one sequence: a higher one was taken later, even if clocks differ.
    sent_no = models.BigIntegerField(
        null=True, help_text="Before the earliest sending that may have been charged; empty while none can have been."
    )
    accepted_no = models.BigIntegerField(
        null=True,
        help_text="After the first report that the upstream has it, before its end: then its debit is certain.",
    )
    pending_no = models.BigIntegerField(
        null=True, help_text='Before the last request that was answered "pending": no refund had happened before.'
    )
    ended_no = models.BigIntegerField(null=True, help_text="Taken after its end was known.")

    polls = models.IntegerField(default=0, help_text="Automatic status requests since it was sent.")
    not_found_count = models.IntegerField(default=0)
    not_found_since = models.DateTimeField(null=True)
    next_poll_at = models.DateTimeField(null=True, help_text="When the sweep has to send or to poll it.")

    #: Not stored: the number that was taken with its lock (`lock_order_for_move`), after all its columns were written.
    locked_no: int
    #: Not stored: read by `with_tags`.
    tag_names: list[str]

    objects = OrderQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("purchases.order")
        constraints = [
            models.CheckConstraint(condition=Q(max_price__gt=0), name="order_max_price_positive"),
            models.CheckConstraint(condition=Q(price__isnull=True) | Q(price__gte=0), name="order_price_not_negative"),
            models.CheckConstraint(
                condition=Q(selling_price__isnull=True) | Q(selling_price__gt=0), name="order_selling_price_positive"
            ),
            models.CheckConstraint(
                condition=Q(fee__isnull=True) | Q(kind="bill", fee__gte=0, selling_price__isnull=False),
                name="order_fee_of_a_bill",
            ),
            models.CheckConstraint(
                condition=~Q(kind="bill")
                | Q(selling_price__isnull=True)
                | Q(fee__isnull=False, selling_price=F("max_price") + F("fee")),
                name="order_bill_sells_for_total_and_fee",
            ),
            models.CheckConstraint(condition=Q(status__in=sorted(Status.values)), name="order_status_known"),
            models.CheckConstraint(
                condition=Q(status__in=sorted(FINAL), final_at__isnull=False, ended_no__isnull=False)
                | Q(~Q(status__in=sorted(FINAL)), final_at__isnull=True, ended_no__isnull=True),
                name="order_final_at_iff_final",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["sending", "unknown"]) | Q(sent_no__isnull=False),
                name="order_in_doubt_has_its_number",
            ),
            models.CheckConstraint(
                condition=Q(status=Status.NEEDS_ACTION, action_reason__gt="")
                | Q(~Q(status=Status.NEEDS_ACTION), action_reason=""),
                name="order_action_reason_iff_needed",
            ),
            models.CheckConstraint(
                condition=Q(_DUE_SOME_TIME, next_poll_at__isnull=False) | Q(~_DUE_SOME_TIME, next_poll_at__isnull=True),
                name="order_never_forgotten",
            ),
            # Document, What the service does 9: no second purchase before the first one's final status is clear.
            models.UniqueConstraint(
                fields=["product_code", "destination"],
                condition=Q(status__in=sorted(OPEN)),
                name="order_open_once_per_destination",
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="order_newest"),
            models.Index(fields=["next_poll_at"], name="order_due", condition=Q(next_poll_at__isnull=False)),
            models.Index(fields=["status", "-created_at"], name="order_by_status"),
            models.Index(fields=["product", "-created_at", "-id"], name="order_by_product_id"),
            models.Index(fields=["placed_by", "created_at"], name="order_by_person"),
            models.Index(fields=["created_at", "id"], name="order_open", condition=Q(status__in=sorted(OPEN))),
            models.Index(fields=["sent_at"], name="order_in_doubt", condition=may_be_charged()),
            # The reversals since the sums of a period were made, without their rows.
            models.Index(fields=["created_at", "final_at"], name="order_reversed", condition=Q(status=Status.REVERSED)),
            models.Index(fields=["final_at"], name="order_unfulfilled", condition=Q(status__in=sorted(UNFULFILLED))),
            # If no order of a large brand failed, a search by status alone would read that index to its end.
            models.Index(
                fields=["product", "status", "-created_at", "-id"],
                name="order_unfulfilled_by_product",
                condition=Q(status__in=sorted(UNFULFILLED)),
            ),
            # For the search: each finds values by their beginning.
            # With the key, so that PostgreSQL finds the newest of a beginning by the index alone.
            models.Index(
                fields=["destination", "-created_at", "-id"],
                opclasses=["varchar_pattern_ops", "timestamptz_ops", "int8_ops"],
                name="order_by_number",
            ),
            # The column is included for the same reason.
            models.Index(
                OpClass(Reverse("destination"), "text_pattern_ops"),
                F("created_at").desc(),
                F("id").desc(),
                include=["destination"],
                name="order_by_end_of_number",
            ),
            # Not partial: PostgreSQL keeps no statistics of an expression over a part of the rows.
            models.Index(Upper("trx_id"), name="order_by_trx_id"),
            models.Index(OpClass(SN_BEGINS, "text_pattern_ops"), name="order_by_sn"),
            models.Index(REF_ID_ENDS, name="order_by_end_of_ref_id"),
        ]
        triggers = [
            pgtrigger.FSM(name="moves_as_in_its_life", field="status", transitions=allowed_moves()),
            pgtrigger.ReadOnly(
                name="identity_never_changes",
                fields=["ref_id", "kind", "idempotency_key", "product_code", "destination", "created_at", "payment"],
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
            ended_for_good(),
            sold_for_one_price(),
            stays_erased(),
        ]

    def __str__(self) -> str:
        return self.ref_id

    def get_absolute_url(self) -> str:
        return _address_of(self.ref_id)

    @classmethod
    def from_db(cls, *facts: Any, **how: Any) -> Self:
        """The stored order. For an erased customer, its number and SN are masked for every reader."""
        order = super().from_db(*facts, **how)
        if vars(order).get("number_erased"):
            number, sn = vars(order).get("destination", ""), vars(order).get("sn", "")
            if sn:
                order.sn = erased_serial(sn, number)
            if number:
                order.destination = erased_number(number, name=sn.partition("/")[2].partition("/")[0])
        return order

    def get_status_display(self) -> str:  # type: ignore[no-redef] # in place of Django's
        """The status in words. Django's own translates the words of every status to find this one."""
        return str(Status(self.status).label)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it, automatically or by the upstream."""
        return self.status in FINAL

    @property
    def may_be_charged(self) -> bool:
        """Whether it was sent and nobody knows more: only the upstream's own word, or two people, can clear that."""
        return self.sent_no is not None and self.accepted_no is None and not self.is_final

    @property
    def shown_price(self) -> int:
        """Rupiah: the charged price, or the confirmed one until it is known."""
        return self.max_price if self.price is None else self.price

    @property
    def customer_pays(self) -> int:
        """Rupiah: the selling price, or the cost for an order from before price rules."""
        return self.shown_price if self.selling_price is None else self.selling_price

    @property
    def follows_cost(self) -> bool:
        """Whether a newly confirmed cost also moves the selling price: true for a bill, and for an order at cost."""
        return self.kind == self.Kind.BILL or self.selling_price in {None, self.max_price}

    def customer_pays_at(self, cost: int) -> int:
        """Rupiah: the customer's price after a cost of this many rupiah is confirmed."""
        return self.customer_pays + (cost - self.max_price if self.follows_cost else 0)

    def sells_below(self, cost: int) -> bool:
        """Whether the shop would lose money at this cost (rupiah); never if the price follows the cost."""
        return not self.follows_cost and self.customer_pays < cost

    def as_json(self) -> dict[str, Any]:
        """The order as the commands print it; prices in whole rupiah, `None` where the upstream has not said."""
        return {
            "ref_id": self.ref_id,
            "trx_id": self.trx_id or None,
            "kind": self.kind,
            "product_code": self.product_code,
            "destination": self.destination,
            "price": self.shown_price,
            "status": self.status,
            "sn": self.sn or None,
            "message": self.message or None,
        }


# Polling times and the masking of the number say nothing about money.
OrderHistory = history_of(
    Order, exclude=["next_poll_at", "polls", "not_found_count", "not_found_since", "number_erased"]
)
