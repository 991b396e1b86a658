"""Furnishes a demo's shop before it sells: drawers, prices that earn something, customers with their numbers."""

from catalogue.destinations import CARD, PHONE
from catalogue.models import Category, Product, ProductType
from catalogue.services import Target, Terms, change_rule
from credit.services import set_credit
from customers.models import Customer, SavedNumber
from customers.services import customer_called, save_number
from drawers.services import add_drawer
from staff.models import User

# The margin that a category (by code) adds to the cost: hundredths of a percent where the costs differ widely, else
# rupiah. Large amounts of credit cost less than their face value: only a percentage brings all of them above it.
_PERCENT = {"pulsa": 300, "paket-data": 500, "voucher-game": 500, "streaming": 500}
_PLUS = {"sms-telepon": 1_500, "e-money": 1_500}
_USUAL, _FEE = 2_500, 2_500
_ROUND_TO = 500

# Name, note, cap of the credit (0: none), and the numbers, each with the code of its product, if it has one.
_CUSTOMERS: list[tuple[str, str, int, list[tuple[str, str]]]] = [
    ("Bu Sari", "Blok C 4", 500_000, [("081298220145", ""), ("512300456789", "PLNPASCA")]),
    ("Pak Budi", "ojek online", 200_000, [("085711300278", ""), ("085711300278", "GOPAY50")]),
    ("Bu Tuti", "warung pojok", 750_000, [("081390447712", ""), ("32114500987", "PLN100")]),
    ("Pak Agus", "bengkel", 300_000, [("087788102934", ""), ("131178254490", "INDIHOME")]),
    ("Mbak Rina", "", 0, [("089655120387", ""), ("089655120387", "DANA50")]),
    ("Mas Dodi", "kos lantai 2", 150_000, [("083877201956", ""), ("45678123.2001", "ML86")]),
    ("Bu Lilis", "guru SD", 400_000, [("081221907733", ""), ("0001458872340", "BPJSKS")]),
    ("Pak Hendra", "", 0, [("081511886420", ""), ("32114700251", "PLN50")]),
    ("Bu Wati", "katering", 600_000, [("085642119007", ""), ("00457812", "PDAMBANDUNG")]),
    ("Mas Fajar", "mahasiswa", 100_000, [("089912304456", ""), ("1180245593", "FF140")]),
    ("Pak Yanto", "ketua RT", 0, [("081387650021", ""), ("541102347788", "PLNPASCA")]),
    ("Mbak Nita", "salon", 250_000, [("085811209934", ""), ("0001990341127", "BPJSKS")]),
]


def furnish_demo(owner: User) -> None:
    """Add two drawers, prices and the customers."""
    for name in ("Laci 1", "Laci 2"):
        add_drawer(name, actor=owner)
    set_prices(owner)
    products = Product.objects.in_bulk(
        {code for *_, numbers in _CUSTOMERS for _number, code in numbers if code}, field_name="code"
    )
    for name, note, cap, numbers in _CUSTOMERS:
        customer = _customer(name, note, owner)
        for number, code in numbers:
            kind = PHONE if not code else CARD
            save_number(
                SavedNumber(customer=customer), destination=number, product=products.get(code), kind=kind, note=""
            )
        if cap:
            set_credit(customer, cap=cap, due_days=14, actor=owner)


def set_prices(owner: User) -> None:
    """Add a price rule for each category: a margin, rounded up."""
    for category in Category.objects.order_by("pk"):
        change_rule(Target(type=category.type, category=category), _terms_of(category), actor=owner)


def _customer(name: str, note: str, owner: User) -> Customer:
    customer, _is_new = customer_called(name, created_by=owner)
    customer.note = note
    customer.save(update_fields=["note"])
    return customer


def _terms_of(category: Category) -> Terms:
    if category.type == ProductType.POSTPAID:
        return Terms("plus", _FEE)
    if percent := _PERCENT.get(category.code):
        return Terms("percent", percent, _ROUND_TO)
    return Terms("plus", _PLUS.get(category.code, _USUAL), _ROUND_TO)
