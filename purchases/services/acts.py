"""The acts that take a second person: purchases above a person's limit, and verdicts."""

from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _

from approvals import services as approvals
from approvals.acts import Act, Line, Seen, register
from approvals.errors import AlreadyAsked
from approvals.models import Approval, Content
from catalogue.models import Product
from core.money import rupiah
from core.rights import Right
from drawers.models import Payment
from drawers.services import PaymentFacts, branch_of_sale
from purchases.errors import AboveLimit, NeedsApproval
from purchases.models import Order, Verdict
from purchases.services.moving import lock_order_for_move
from purchases.services.placing import (
    PAYMENT,
    Approved,
    place_order,
    refuse_if_among,
    refuse_if_not_for_sale,
    refuse_repeat,
    repeats_of,
)
from purchases.services.verdicts import (
    VERDICT,
    approve_verdict,
    content_of,
    decided_before,
    end_verdict,
    undecided,
)
from purchases.states import Status
from staff.models import User
from staff.services import limits_of


def ask_for_approval(need: NeedsApproval, *, actor: User, reason: str = "") -> Approval:
    """Put an order above the person's limit before a second person; nothing is reserved or sent.

    Raises `AlreadyAsked` when another request waits for the same product and destination.
    """
    content = need.content | {"placed_by": actor.pk}
    about = f"{content['product_name']} → {content['destination']}"
    try:
        return approvals.ask(need.act, subject=need.subject, content=content, actor=actor, reason=reason, about=about)
    except AlreadyAsked as before:
        if before.approval.facts != content | {"ref_id": before.approval.facts["ref_id"]}:
            raise
        return before.approval  # the same form again


def payment_now(content: Content) -> dict[str, Any]:
    """The part of an approval's content about the payment, as it is now."""
    return {PAYMENT: PaymentFacts.of(content[PAYMENT]).plain}


class SpendingAct(Act):
    """The base of purchases and bill payments: the asker places the order."""

    may_approve = Right.APPROVE_ORDERS
    keeps_customer = True

    def amount(self, content: Content) -> int | None:
        """The customer's price (rupiah); the cost for a request from before price rules."""
        amount: int = content.get("selling_price", content["price"])
        return amount

    def branch_of(self, content: Content, asker: User) -> int | None:
        return branch_of_sale(asker, content[PAYMENT]["shift"])

    def refuse_approver(self, approval: Approval, person: User) -> None:
        """Nobody approves more than the own limit for one order."""
        limit = limits_of(person).per_order
        if limit is not None and approval.facts["price"] > limit:
            raise AboveLimit(limit)

    def url(self, approval: Approval) -> str:
        return reverse("order_detail", args=[approval.result]) if approval.result else ""

    @staticmethod
    def payment_lines(content: Content) -> list[Line]:
        """The customer's way to pay, if the asker chose it."""
        words = PaymentFacts.of(content[PAYMENT]).words
        return [Line(PAYMENT, _("Paid by"), words)] if words else []

    @staticmethod
    def approved(approval: Approval, approver: User) -> Approved:
        """The approval as `place_order` takes it: for the ref_id, and for the order's timeline."""
        return Approved(
            ref_id=approval.facts["ref_id"],
            approval=approval.pk,
            by=approver,
            number_erased=approval.number_erased,
        )


@register
class PurchaseAct(SpendingAct):
    """A purchase above the limit of its seller."""

    name = "order"
    label = _("Purchase above the limit")
    may_ask = Right.BUY

    def content_now(self, approval: Approval) -> Content:
        """The content with the product as it is now. Raises the refusal if such an order cannot be placed."""
        asked = approval.facts
        product = _locked(asked["product_code"])
        refuse_if_not_for_sale(product)
        refuse_repeat(product=product, destination=asked["destination"], confirm_repeat=asked["confirm_repeat"])
        return asked | payment_now(asked) | _product_now(product)

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        """Their products, and the orders for the same products and destinations."""
        asked = [approval.facts for approval in approvals]
        codes = {facts["product_code"] for facts in asked if "product_code" in facts}
        pairs = {(facts["product_code"], facts["destination"]) for facts in asked if "destination" in facts}
        products = Product.objects.select_related("brand", "category").filter(code__in=codes).order_by("pk")
        return [products, repeats_of(pairs)]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with the product as it is now. Raises the same as `content_now`."""
        asked, (products, repeats) = approval.facts, seen.answers
        product = next((row for row in products if row.code == asked.get("product_code")), None)
        if product is None:
            return asked
        refuse_if_not_for_sale(product)
        refuse_if_among(
            repeats,
            product_code=product.code,
            destination=asked["destination"],
            confirm_repeat=asked["confirm_repeat"],
        )
        return asked | _product_now(product)

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Place the order for the asker, with the payment of the request.

        Raises `BalanceShort` if it does not wait for a top-up, and the refusal if it cannot be sold on credit now.
        """
        asked = approval.facts
        placed = place_order(
            product=_locked(asked["product_code"]),
            destination=asked["destination"],
            max_price=asked["max_price"],
            selling_price=asked["selling_price"],
            reason=asked["below_cost"],
            idempotency_key=asked["idempotency_key"],
            placed_by=approval.asked_by,
            confirm_repeat=asked["confirm_repeat"],
            wait_for_topup=asked["wait_for_topup"],
            approved=self.approved(approval, approver),
            payment=PaymentFacts.of(asked[PAYMENT], branch=approval.branch_id),
        )
        return placed.ref_id

    def lines(self, content: Content) -> list[Line]:
        product = Product.objects.select_related("brand", "category").filter(code=content["product_code"]).first()
        number, why = content["destination"], content.get("below_cost")
        return [
            Line("product_name", _("Product"), f"{content['product_name']} ({content['product_code']})"),
            Line("destination", _("Destination"), product.kind.shown(number) if product else number),
            Line("selling_price", _("Price"), rupiah(content.get("selling_price"))),
            Line("price", _("Cost"), rupiah(content["price"]), is_cost=True),
            Line("max_price", _("At most"), rupiah(content["max_price"]), is_cost=True),
            *([Line("below_cost", _("Below cost, because"), why, is_note=True)] if why else []),
            *self.payment_lines(content),
            Line("wait_for_topup", _("If the balance is short"), _if_short(waits=content["wait_for_topup"])),
            Line("ref_id", "ref_id", content["ref_id"]),
        ]


@register
class VerdictAct(Act):
    """The end of an order that the upstream leaves open, or whose success it took back."""

    name = VERDICT
    label = _("Decision on an order")
    may_ask = Right.PROPOSE_VERDICTS
    may_approve = Right.APPROVE_VERDICTS
    moves_cost = True

    def content_now(self, approval: Approval) -> Content:
        """The verdict with the order as it is now: once the order has moved or was sent again, the approval is void."""
        proposed = _verdict_of(approval)
        order = lock_order_for_move(proposed.order_id)
        return content_of(order, undecided(order, proposed))

    def branch_of(self, content: Content, asker: User) -> int | None:
        return Payment.objects.values_list("branch", flat=True).get(ref_id=content["ref_id"])

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        keys = {approval.facts["verdict"] for approval in approvals if "verdict" in approval.facts}
        return [Verdict.objects.select_related("order").filter(pk__in=keys).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The verdict with the order's present status. Raises the same as `content_now`."""
        proposed = next((row for row in seen.answers[0] if row.pk == approval.facts.get("verdict")), None)
        if proposed is None:
            return approval.facts
        if proposed.decided_at is not None:
            raise decided_before()
        return content_of(proposed.order, proposed)

    def execute(self, approval: Approval, *, approver: User) -> str:
        return approve_verdict(_verdict_of(approval), actor=approver).ref_id

    def lines(self, content: Content) -> list[Line]:
        """The end of the order, and the place where a person saw it."""
        lines = [
            Line("ref_id", _("Order"), content["ref_id"]),
            Line("outcome", _("It ends as"), str(Verdict.Outcome(content["outcome"]).label)),
            Line("order_status", _("Status until then"), str(Status(content["order_status"]).label)),
            *([Line("attempt", _("Times sent"), str(content["attempt"] or "–"))] if "attempt" in content else []),
            Line("price", _("Cost"), rupiah(content["price"]), is_cost=True),
            Line("evidence", _("Evidence"), content["evidence"], is_note=True),
        ]
        return [*lines, Line("sn", "SN", content["sn"])] if content["sn"] else lines

    def numbers(self, approval: Approval) -> list[str]:
        """The order's, and its SN's name once its customer was erased."""
        return [order.destination for order in Order.objects.filter(ref_id=approval.facts["ref_id"])]

    def about(self, approval: Approval) -> str:
        content = approval.facts
        return f"{content['ref_id']} → {Verdict.Outcome(content['outcome']).label}"

    def amount(self, content: Content) -> int | None:
        """The price of the order in rupiah."""
        price: int = content["price"]
        return price

    def url(self, approval: Approval) -> str:
        return reverse("order_detail", args=[approval.facts["ref_id"]])

    def ended(self, approval: Approval) -> None:
        """End the verdict, which nobody can approve any more; the order stays as it is."""
        end_verdict(_verdict_of(approval), by=approval.decided_by)


def _product_now(product: Product) -> dict[str, Any]:
    return {"product_name": product.name, "price": product.price, "selling_price": product.sells_for}


def _if_short(*, waits: bool) -> str:
    return gettext("It waits for a top-up.") if waits else gettext("It cannot be approved until it is topped up.")


def _locked(code: str) -> Product:
    """The product, locked so that no sync changes it until the transaction ends."""
    products = Product.objects.select_for_update(of=("self",), no_key=True).select_related("brand", "category")
    return products.get(code=code)


def _verdict_of(approval: Approval) -> Verdict:
    return Verdict.objects.get(pk=approval.facts["verdict"])
