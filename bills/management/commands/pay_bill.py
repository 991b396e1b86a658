"""`./run manage pay_bill`: pay a bill that was checked."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from bills import services
from bills.models import BillCheck
from core.commands import PlainCommand, waiting_seconds, whole_rupiah
from core.errors import OrderRefused
from core.rights import Right
from purchases.errors import ActionRefused
from purchases.management.printing import send_and_exit
from purchases.models import Order
from purchases.states import ActionReason, Status
from staff.acting import acting_person, add_as
from staff.models import User
from upstream.errors import UpstreamError


class Command(PlainCommand):
    """Pay the check's total, send it, and follow the order for `--wait` seconds."""

    help = "Pay a checked bill. Exit 0: success, 3: not final yet, 1: rejected, failed or refused, 2: usage."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The check, the total that is meant, how long to wait."""
        parser.add_argument("ref_id", metavar="REF_ID", help="The ref_id of the check.")
        parser.add_argument(
            "--amount",
            type=whole_rupiah,
            metavar="N",
            help="The total in rupiah (default: the check's; to be named when it has changed).",
        )
        parser.add_argument(
            "--wait", type=waiting_seconds, default=0, metavar="S", help="How long to follow the order."
        )
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Pay (or pay again, when it needs action), follow, print; exit with the order's state."""
        person = acting_person(options, Right.VIEW_BILLS, Right.CHECK_BILLS)
        check = BillCheck.objects.filter(ref_id=options["ref_id"]).first()
        if check is None:
            raise CommandError(f"There is no bill check {options['ref_id']!r}.")
        try:
            order = self._pay(check, options["amount"], person)
        except (OrderRefused, ActionRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        except UpstreamError as fault:
            raise CommandError("The biller could not be asked for the present total; try again.") from fault
        send_and_exit(self, order, options)

    @staticmethod
    def _pay(check: BillCheck, amount: int | None, person: User | None) -> Order:
        """Pay `amount` rupiah, or the check's total; a changed total is paid only when `amount` names it."""
        order = check.order
        if order is not None and order.action_reason == ActionReason.AMOUNT_MISMATCH:
            services.inquire_again(check, actor=person)
            check = BillCheck.objects.with_standing().get(pk=check.pk)
            if amount is None:
                if refusal := services.why_not_payable(check):
                    raise refusal
                raise CommandError(
                    f"The total is {check.total} rupiah now and was {order.max_price} when it was confirmed; "
                    f"pay it with --amount {check.total}."
                )
        confirmed = (check.total or 0) if amount is None else amount
        if order is not None and order.status == Status.NEEDS_ACTION:
            return services.pay_again(order, amount=confirmed, actor=person, enqueue=False)
        return services.pay_bill(check, amount=confirmed, paid_by=person, enqueue=False)
