"""Bills due in words, such as the text for a customer."""

from collections.abc import Iterable

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext

from core.customer_texts import one_line, plain_lines, whatsapp_link
from core.numbers import sees_whole_numbers
from core.times import day_words
from customers.models import SavedNumber
from customers.presenting import shown_number
from dues.models import OWES, DueBill
from shop.models import Shop


def until_words(bill: DueBill) -> list[str]:
    """The day from which there is a fine, else the day by which an owed bill has to be collected; else nothing."""
    if bill.fine_on:
        return [gettext("fine from %(day)s") % {"day": day_words(bill.fine_on)}]
    if bill.state in OWES:
        return [gettext("collect by %(day)s") % {"day": day_words(bill.collect_by)}]
    return []


def whatsapp_texts(bills: Iterable[DueBill], shop: Shop) -> dict[int, str]:
    """The addresses that open WhatsApp with the total of each bill to be paid, by its key.

    It goes to a phone number of the customer, if one is saved and the viewer sees full numbers.
    """
    owed = [bill for bill in bills if bill.state in OWES]
    phones: dict[int, str] = {}
    if sees_whole_numbers():
        customers = {bill.number.customer_id for bill in owed}
        saved = SavedNumber.objects.phones().filter(customer__in=customers)
        phones = dict(saved.order_by("-pk").values_list("customer", "destination"))
    with translation.override(shop.language or translation.get_language()):
        return {
            bill.pk: whatsapp_link(_due_text(bill, shop), phone=phones.get(bill.number.customer_id, ""))
            for bill in owed
        }


def _due_text(bill: DueBill, shop: Shop) -> str:
    """The plain text for the customer, in the active language."""
    check = bill.bill_check
    facts = {
        "name": one_line(bill.number.customer.name),
        "shop": shop.name,
        "biller": check.product_name if check else "",
        "number": shown_number(bill.number),
        "period": one_line(check.period) if check else "",
        "total": bill.to_pay,
        "fine_on": bill.fine_on if bill.fine_on and bill.fine_on > timezone.localdate() else None,
        "is_sandbox": settings.SANDBOX,
    }
    return plain_lines(render_to_string("dues/message.txt", facts))
