"""One field: a number in any notation, a letter for the tab, a denomination; or a name, or words."""

from catalogue.destinations import GAME_ZONE
from counter.services import Shelf, Typed
from counter.services.choosing import meant_products
from tests.catalogue.shelf import shelf

SAME_NUMBER = [
    *("0812-9000-0004", "0812 9000 0004", "0812.9000.0004", "(0812) 9000 0004", "081290000004"),
    *("+62 812 9000 0004", "+62 812-9000-0004", "+62-812-9000-0004", "+62 (812) 9000 0004", "(+62) 812 9000 0004"),
    *("+6281290000004", "6281290000004", "62 812 9000 0004", "006281290000004"),
]
# As phones and messengers copy it: with marks that nobody sees, and dashes at which no line breaks.
COPIED = [
    *("\u202a+62 812-9000-0004\u202c", "\u2068+62\u00a0812\u20119000\u20110004\u2069", "0812\u20139000\u20130004"),
    *("\u200b081290000004", "\ufeff0812\u00ad9000\u00ad0004", "081290000004\u200e"),
]


READ = [
    ("081234567890", "081234567890", None, ""),
    ("0812 3456 7890 10", "081234567890", None, "10"),
    ("+62 812-3456-7890 50rb", "081234567890", None, "50rb"),
    ("081234567890 d 3", "081234567890", Shelf.DATA, "3"),
    ("081234567890 d3", "081234567890", Shelf.DATA, "3"),
    ("081234567890 b", "081234567890", Shelf.BILL, ""),
    ("081234567890 dana 50", "081234567890", None, "dana 50"),
    ("12345678901 50", "12345678901", None, "50"),
    ("1234 5678 901 50", "12345678901", None, "50"),
    ("123456789012 b", "123456789012", Shelf.BILL, ""),
    ("0812", "", None, ""),
    *((text, "512300456789", Shelf.BILL, "") for text in ("512300456789b", "512300456789B ", "5123 0045 6789b")),
    ("081234567890b", "081234567890", Shelf.BILL, ""),
    ("12345678901 50b", "12345678901", None, "50b"),
    ("0812 3456 7890 3b", "081234567890", None, "3b"),
    ("50 081234567890b", "", None, "50 081234567890b"),
    ("10.081234567890b", "", None, "10.081234567890b"),
    ("1234567b", "", None, "1234567b"),
    ("sari", "", None, "sari"),
    ("mlbb 86", "", None, "mlbb 86"),
    ("86 diamonds", "", None, "86 diamonds"),
    ("50 081234567890", "081234567890", None, "50"),
    ("S10.081234567890", "081234567890", None, "10"),
    ("token 50 12345678901", "12345678901", None, "token 50"),
    ("token 5000 1234 5678 901", "12345678901", None, "token 5000"),
    ("pln 12345678901 50", "12345678901", None, "pln 50"),
    ("b 12345678901", "12345678901", Shelf.BILL, ""),
    ("mlbb 86 12345678 2001", "123456782001", None, "mlbb 86"),
    ("dana 10000000", "", None, "dana 10000000"),
    ("0812345678901234", "0812345678901234", None, ""),
    *((same, "081290000004", None, "") for same in SAME_NUMBER),
    *((f"{same} 10", "081290000004", None, "10") for same in [*SAME_NUMBER, *COPIED]),
    *((copied, "081290000004", None, "") for copied in COPIED),
]


def test_the_text_is_read_as_it_is_meant():
    for text, *meant in READ:
        typed = Typed.read(text)
        assert [typed.bare, typed.shelf, typed.words] == meant, text


def test_what_a_number_may_be_follows_from_its_digits():
    assert Typed.read("081234567890").may_be_meter
    assert [Typed.read("1" * count).offers_power for count in (10, 11, 12, 13, 14)] == [False, True, True, True, False]
    assert Typed.read("081234567890").shown == "0812 3456 7890"


WRONG = {
    "08129000O004": "O",
    "0812 9000 o004": "o",
    "08l290000004": "l",
    "+62812x90": "x",
    "085712345678d": "d",
    "08129000b": "b",
    "08129000000x 10": "x",
}
RIGHT = ("081290000004", "sari", "d3", "tsel10", "mlbb 86", "0812", "081290000004 d3", "08 sari")


def test_a_letter_in_a_number_is_named():
    for text, sign in {**WRONG, **dict.fromkeys(RIGHT, "")}.items():
        assert Typed.read(text).wrong_sign == sign, text


def test_several_numbers_at_once_are_told_from_one():
    for text, is_several in [
        ("081290000004 081290000005 081290000006", True),
        ("081290000004, 081290000005", True),
        ("0812 9000 0004 0812 9000 0005", True),
        ("081290000004081290000005", True),  # pasted lines
        ("531290000012 531290000013", True),
        ("081290000004 10.000.000", False),
        ("mlbb 86 12345678 2001", False),
        ("531290000012", False),
        ("sari", False),
    ]:
        assert Typed.read(text).has_several_numbers == is_several, text


ACCOUNTS = ("12345678 2001", "12345678 (2001)", "12345678(2001)", "12345678-2001", "12345678/2001", "12345678.2001")


MEANT = [
    *(f"{account} mlbb 86" for account in ACCOUNTS),
    *(f"mlbb 86 {account}" for account in ACCOUNTS),
    *("12345678 mlbb 86 2001", "12345678 mlbb 86 (2001)", "mlbb 12345678 2001 86", "12345678 2001 86 diamond ml"),
]
NOT_MEANT = [
    "12345678 1412 mlbb",  # an amount that is sold: the page asks for the zone
    "12345678 2001 mlbb",  # an amount that nobody sells, or a zone
    "12345678 2001 2002 mlbb 86",
    "12345678 12000 pb",
    "12345678901 50000 pln",
    "12345678 1000 ff",
    "081234567890 2001 mlbb 86",
]


def test_an_account_and_its_zone_are_split_however_they_are_typed():
    for text in MEANT:
        typed, found = meant_products(shelf(), text)
        assert [product.code for product in _products(found.keys)] == ["ML86"], text
        assert GAME_ZONE.read(typed.number) == "12345678.2001", text
    for product in shelf().products:
        if product.kind is GAME_ZONE:
            typed, found = meant_products(shelf(), f"12345678 2001 {product.name}")
            assert product.name in {one.name.lower() for one in _products(found.keys)}
            assert GAME_ZONE.read(typed.number) == "12345678.2001", product.code


def test_what_may_be_an_amount_becomes_no_zone_and_a_zone_is_of_a_game_alone():
    for text in NOT_MEANT:
        assert GAME_ZONE.read(meant_products(shelf(), text)[0].number) == "", text
    for text in ("12345678 (901) pln 50", "12345678/901 token 50", "12345678 (901) ff 50"):
        assert meant_products(shelf(), text)[1].keys == [], text


def _products(keys):
    index = shelf()
    return [product for key, product in zip(index.keys, index.products, strict=True) if key in keys]
