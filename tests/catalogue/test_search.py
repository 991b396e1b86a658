"""The typed text → the first result, and results that must never come."""

from decimal import Decimal

from hypothesis import given, settings, strategies as st

from catalogue.services.amounts import MONEY, amount_of, number_of
from catalogue.services.words import has_one_typo
from core.notation import split_number
from tests.catalogue.shelf import products_for, shelf

UNTIMED = settings(deadline=None, max_examples=50)  # a busy machine takes its time

MONTHS = ("sebulan", "bulanan", "30h", "30 h", "1 bulan", "30 hari", "a month", "one month", "monthly", "per bulan")
WEEKS = ("seminggu", "mingguan", "7h", "1 week", "a week", "weekly")
# the typed text, the code of the first result, codes that must not be found at all
QUERIES = [
    # the denomination, in every spelling
    ("tel 10", "TSEL10", "TSEL1 TSEL5"),
    ("tsel 10", "TSEL10", "TSEL1 TSEL5 XL10"),
    ("pulsa 10", "TSEL10", "TSEL1 ISAT1 XL1 TRI1 DANA10"),
    ("10", "TSEL10", "TSEL1 TSEL5 XL1 FF5"),
    ("10rb", "TSEL10", "TSEL1 TSEL5"),
    ("10k", "TSEL10", "TSEL1"),
    ("10 ribu", "TSEL10", "TSEL1"),
    ("10.000", "TSEL10", "TSEL1 FF5"),
    ("10000", "TSEL10", "TSEL1"),
    ("Rp10.000", "TSEL10", "TSEL1"),
    ("tsel 10,000", "TSEL10", "TSEL1 TSEL5"),
    ("tsel rp 10.000,-", "TSEL10", "TSEL1 TSEL5"),
    ("10.000 telkomsel", "TSEL10", "TSEL1 XL10"),
    ("10rb tsel pulsa", "TSEL10", "TSEL1 TSELD12G30"),
    ("tsel10", "TSEL10", "TSEL1 TSEL5"),
    ("tsel10rb", "TSEL10", "TSEL1"),
    ("t10", "TSEL10", "TSEL1 TSEL5 XL10"),
    ("x10", "XL10", "XL1 TSEL10"),
    ("i10", "ISAT10", "ISAT1 XL10"),
    ("TSEL100", "TSEL100", "TSEL1 TSEL10"),
    ("tsel 100", "TSEL100", "TSEL1 TSEL10 TSEL75"),
    ("1jt tsel", "TSEL1000", "TSEL1 TSEL500"),
    ("1.000.000 xl", "XL1000", "XL1"),
    ("1 juta tri", "TRI1000", "TRI1 TRI500"),
    ("tsel 1000", "TSEL1", ""),
    ("tsel 1", "TSEL1", ""),
    ("goceng tsel", "TSEL5", "TSEL1 TSEL3"),
    ("ceban xl", "XL10", "XL1 XL5"),
    # no product has exactly this amount: a larger one comes, never a smaller one
    ("pulsa tsel 12", "TSEL15", "TSEL1 TSEL10"),
    ("telkomsl 12.000", "TSEL15", "TSEL1 TSEL10 TSELD12G30 TSELD17G30"),
    ("tsel 3jt", "", ""),
    ("dana 30", "DANA50", "DANA10 DANA25"),
    ("pb 7", "PB12000", ""),
    ("ml 800", "ML1412", "ML706 ML86"),
    # operators by their own and other names
    ("simpati 10", "TSEL10", "TSEL1 ISAT10"),
    ("as 10", "TSEL10", "TSEL1 XL10"),
    ("kartu as 20", "TSEL20", "TSEL1 XL20"),
    ("loop 25", "TSEL25", "TSEL5 XL25"),
    ("halo 10", "TSEL10", "TSEL1 HALO"),
    ("halo", "HALO", "XL10"),
    ("im3 10", "ISAT10", "ISAT1 TSEL10"),
    ("mentari 5", "ISAT5", "ISAT1"),
    ("isat 50", "ISAT50", "ISAT5"),
    ("200 im3", "ISAT200", "ISAT2"),
    ("xl 10", "XL10", "XL1 XLHOME AXIS10"),
    ("axis 25", "AXIS25", "AXIS5 XL25"),
    ("three 10", "TRI10", "TRI1"),
    ("tri 3", "TRI3", "TRI1 TRI2"),
    ("3 10", "TRI10", ""),
    ("10 3", "TRI10", ""),
    ("3 3", "TRI3", ""),
    ("3", "TRI3", ""),
    ("smart 5", "SMART5", "SMART1"),
    ("smartfren 10", "SMART10", "SMART1 SMART5"),
    ("byu 10", "BYU10", "BYU1 TSEL10"),
    ("by.u 10", "BYU10", "BYU1"),
    ("by u 10", "BYU10", "BYU1"),
    # one typing error
    ("telkomsl 10", "TSEL10", "TSEL1"),
    ("tlkomsel 10", "TSEL10", "TSEL1"),
    ("telkosmel 10", "TSEL10", "TSEL1"),
    ("indsat 10", "ISAT10", "ISAT1"),
    ("axsi 10", "AXIS10", "AXIS1"),
    ("smartfern 10", "SMART10", "SMART1"),
    ("pusla xl 5", "XL5", "XL1 XL3"),
    ("simpti 20", "TSEL20", "TSEL2"),
    ("gopai 50", "GOPAY50", "GOPAY10"),
    ("tokn 20", "PLN20", "PLN50M"),
    ("freefre 70", "FF70", "FF5"),
    ("topip 10 tsel", "TSEL10", "TSEL1"),
    ("ovi 10", "", ""),  # too short to guess
    # packages
    ("data 3", "TRID3G7", "TSELD1G1 TSELD2G7"),
    ("tsel data 3gb", "TSELD3G7", "TSELD2G7 TSEL3"),
    ("tsel 3gb 30 hari", "TSELD3G30", "TSELD3G7 TSEL3"),
    *((f"3 GB {words} Telkomsel", "TSELD3G30", "TSELD3G7") for words in MONTHS),
    *((f"tsel 3gb {words}", "TSELD3G7", "TSELD3G30") for words in WEEKS),
    *((f"tsel data {words}", "TSELD1G1", "TSELD3G30") for words in ("sehari", "harian", "daily", "1h", "a day")),
    ("081290000001 3gb sebulan", "TSELD3G30", "TSELD3G7"),
    ("tsel 12gb bulanan", "TSELD12G30", "TSELD3G30"),
    ("tsel 12gb seminggu", "", ""),  # there is none: a package of another length must never come
    ("tsel 2gb bulanan", "TSELD3G30", "TSELD2G7"),
    ("listrik bulanan", "PLN20", ""),
    ("tagihan listrik bulanan", "PLNNONTAG", "PLN20"),
    ("tsel data 3 30", "TSELD3G30", "TSELD1G1"),
    ("tsel data 30", "TSELD35G30", "TSELD3G30 TSELD25G30"),
    ("kuota xl 12", "XLD12G30", "XLD1G1 XL15"),
    ("paket data axis 1,5", "AXISD15G3", "AXISD1G1"),
    ("internet im3 5 gb", "ISATD5G30", "ISATD3G30"),
    ("telp tsel 30", "TSELTLP30M1", "TSEL30"),
    # electricity
    ("token 20", "PLN20", "TSEL20"),
    ("listrik 100", "PLN100", "PLN50 PLN20"),
    ("pln 50", "PLN50", "PLN20 PLNPASCA"),
    ("strom 200", "PLN200", "PLN20"),
    # wallets
    ("gopay 10", "GOPAY10", "DANA10"),
    ("gpay 100", "GOPAY100", "GOPAY10"),
    ("gojek driver 50", "GOJEK50", "GOPAY50"),
    ("dana 100rb", "DANA100", "DANA10"),
    ("ovo 25k", "OVO25", "OVO10"),
    ("shopee 20", "SPAY20", "SPAY10"),
    ("shopee pay 20", "SPAY20", "SPAY10"),
    ("link 50", "LINK50", "LINK10"),
    ("e-toll 50", "EMONEY50", "EMONEY10"),
    ("brizzi 20", "BRIZZI20", "BRIZZI10"),
    ("saldo dana 50", "DANA50", "DANA10"),
    # games
    ("mlbb 86", "ML86", "ML5 ML59"),
    ("ml 5", "ML5", ""),
    ("mobile legend 86", "ML86", "ML5"),
    ("mobilelegends86", "ML86", "ML5"),
    ("86 diamond ml", "ML86", "ML5"),
    ("voucher ml 172", "ML172", "ML86"),
    ("ff 140", "FF140", "FF70 ML172"),
    ("free fire 70", "FF70", "FF5"),
    ("pubg 60", "PUBG60", "GI60"),
    ("genshin 330", "GI330", "GI60"),
    ("hok 80", "HOK80", "HOK16"),
    ("valo 475", "VAL475", ""),
    ("roblox 80", "RBX80", ""),
    ("pb 12", "PB12000", ""),
    ("pb 1200", "PB1200", ""),
    ("steam 12", "STEAM12", ""),
    ("play store 20", "GPLAY20", "GPLAY10"),
    # words alone, codes, and prepaid products before bills
    ("telkomsel", "TSEL1", "XL1"),
    ("spotify", "SPOTIFY1", ""),
    ("vidio2", "VIDIO2", ""),
    ("vidio 3", "VIDIO2", "VIDIO1"),
    ("pln", "PLN20", ""),
    ("listrik", "PLN20", ""),
    ("zzz", "", ""),
    # the number and the denomination in one field
    ("081290000001 10", "TSEL10", "TSEL1 XL10 DANA10"),
    ("0812 9000 0001 10", "TSEL10", "TSEL1 XL10"),
    ("0812-9000-0001 10rb", "TSEL10", "TSEL1"),
    ("+62 812 9000 0001 10", "TSEL10", "TSEL1"),
    ("6281290000001 25", "TSEL25", "TSEL1"),
    ("10 081290000001", "TSEL10", "TSEL1"),
    ("089512345678 3", "TRI3", "TRI1 TSEL3"),
    ("081290000001 data 3", "TSELD3G7", "TRID3G7 TSEL3"),
    ("081290000001", "TSEL1", "XL1 DANA10 PLN20"),
    ("081290000001 dana 10", "DANA10", "TSEL10"),
    ("085100000001 10", "BYU10", "XL10"),
    ("081290000001 xl 10", "", ""),
]
BILLERS = [
    ("pln", "PLNNONTAG", "TELKOM"),
    ("PLN Pasca", "PLNPASCA", "ICONNET"),
    ("listrik", "PLNNONTAG", "ICONNET"),
    ("rekening listrik", "PLNNONTAG", "ICONNET"),
    ("halo", "HALO", "TRIPASCA"),
    ("kartu halo", "HALO", "TRIPASCA"),
    ("im3", "IM3PASCA", "HALO"),
    ("three", "TRIPASCA", "HALO"),
    ("3", "TRIPASCA", "HALO"),
    ("pascabayar smart", "SMARTPASCA", "HALO"),
    ("air surabaya", "PDAMSURABAYA", "PDAMGRESIK"),
    ("pdam surabya", "PDAMSURABAYA", "PDAMGRESIK"),
    ("gresik pdam", "PDAMGRESIK", "PDAMSURABAYA"),
    ("bpjs kes", "BPJSKS", "BPJSTK"),
    ("bpjs tk", "BPJSTK", "BPJSKS"),
    ("jamsostek", "BPJSTK", "BPJSKS"),
    ("indihom", "INDIHOME", "BIZNET"),
    ("wifi biznet", "BIZNET", "INDIHOME"),
    ("tagihan indihome", "INDIHOME", "BIZNET"),
    ("cicilan fif", "FIF", "BAF"),
    ("adria", "ADIRA", "FIF"),
    ("kredit home credit", "HOMECREDIT", "FIF"),
    ("non taglis", "PLNNONTAG", "PLNPASCA"),
    ("nontaglis", "PLNNONTAG", "PLNPASCA"),
    ("telkomsel 10", "", ""),
]


def test_what_is_typed_finds_what_is_meant():
    for typed, first, never in QUERIES:
        codes = [product.code for product in products_for(typed)]

        assert (codes[0] if codes else "") == first, typed
        assert not set(never.split()) & set(codes), typed


def test_billers_are_found_by_what_people_call_them():
    for typed, first, never in BILLERS:
        codes = [product.code for product in products_for(typed, kind="postpaid")]

        assert (codes[0] if codes else "") == first, typed
        assert not set(never.split()) & set(codes), typed


def test_a_number_among_words_is_found_whole():
    for typed, number, words in [
        ("081290000001 10", "081290000001", "10"),
        ("0812 9000 0001", "0812 9000 0001", ""),
        ("0812 9000 0001 10", "0812 9000 0001", "10"),
        ("0812 9000 0001 100", "0812 9000 0001", "100"),
        ("0812 345 678 901", "0812 345 678 901", ""),  # thirteen digits in groups: not a denomination of 901
        ("0812 3456 7890 1", "0812 3456 7890 1", ""),  # this, too; a number that lacks its end would be worse
        ("+62 812-9000-0001 5", "+62812-9000-0001", "5"),
        ("62 812 9000 0001 5rb", "62812 9000 0001", "5rb"),
        ("0812", "0812", ""),
        ("pulsa 10 ke 081290000001", "081290000001", "pulsa 10 ke"),
        ("tsel 10", "", "tsel 10"),
        ("tsel 628", "", "tsel 628"),  # no beginning of +62 8…
        ("as 628000", "", "as 628000"),  # money
        ("as 62.800", "", "as 62.800"),
        ("62800123456 5", "62800123456", "5"),
        ("1234 5678 901", "", "1234 5678 901"),
    ]:
        assert split_number(typed) == (number, words), typed


SPELLINGS = {
    "thousands": lambda rupiah: str(rupiah // 1000),
    "rb": lambda rupiah: f"{rupiah // 1000}rb",
    "ribu": lambda rupiah: f"{rupiah // 1000} ribu",
    "k": lambda rupiah: f"{rupiah // 1000}K",
    "dots": lambda rupiah: f"{rupiah:,}".replace(",", "."),
    "commas": lambda rupiah: f"{rupiah:,}",
    "digits": str,
    "Rp": lambda rupiah: "Rp" + f"{rupiah:,}".replace(",", "."),
}
PREPAID = [product for product in shelf().products if product.type == "prepaid"]
IN_MONEY = [product for product in PREPAID if product.sold_in.main.unit == MONEY]
CALLED = [(word, product) for product in PREPAID for called in product.brand_called for word in sorted(called.called)]


def test_every_prepaid_product_has_a_denomination():
    assert [product.code for product in PREPAID if product.sold_in.main is None] == []
    assert len(IN_MONEY) > 200


@UNTIMED
@given(st.sampled_from(IN_MONEY), st.sampled_from(sorted(SPELLINGS)), st.booleans())
def test_however_money_is_spelled_the_exact_one_comes_first(product, spelling, amount_first):
    rupiah = int(product.sold_in.main.value)
    if rupiah >= 1_000_000 and spelling == "thousands":
        spelling = "digits"  # "1000" is a thousand
    words = [product.brand_name, SPELLINGS[spelling](rupiah)]

    first = products_for(" ".join(reversed(words) if amount_first else words))[0]

    assert (first.brand_name, first.sold_in.main.value) == (product.brand_name, rupiah)


@UNTIMED
@given(st.sampled_from(PREPAID))
def test_every_name_finds_its_own_product_first(product):
    assert products_for(product.name)[0].name == product.name
    assert products_for(product.code)[0].code == product.code


@UNTIMED
@given(st.sampled_from(CALLED), st.integers(1, 999), st.sampled_from(["thousands", "rb", "dots", "digits"]))
def test_a_smaller_amount_of_money_never_comes_first(called, thousands, spelling):
    word, _product = called

    hits = products_for(f"{word} {SPELLINGS[spelling](thousands * 1000)}")

    for hit in hits[:1]:
        main = hit.sold_in.main
        asked = thousands * 1000 if main.unit == MONEY or spelling != "thousands" else thousands
        assert main.value >= asked


@UNTIMED
@given(st.text(max_size=100))
def test_no_text_breaks_the_search(text):
    assert isinstance(products_for(text), list)


def test_dots_and_commas_are_read_as_people_mean_them():
    for text, number in [
        ("10.000", "10000"),
        ("10,000", "10000"),
        ("1.000.000", "1000000"),
        ("1,5", "1.5"),
        ("1.5", "1.5"),
        ("86", "86"),
    ]:
        assert number_of(text) == Decimal(number), text


def test_units_are_compared_in_their_smallest():
    for text, after, value, unit in [
        ("1024", "mb", 1000, "data"),
        ("1", "gb", 1000, "data"),
        ("1", "bulan", 30, "days"),
        ("2jt", "", 2_000_000, MONEY),
    ]:
        amount, _with_next = amount_of(text, after)

        assert (amount.value, amount.unit) == (value, unit), text


def test_one_typing_error_is_forgiven_and_not_two():
    for typed, word, near in [
        ("telkomsl", "telkomsel", True),
        ("telkomseel", "telkomsel", True),
        ("telkomsal", "telkomsel", True),
        ("telkosmel", "telkomsel", True),
        ("telkmos", "telkomsel", True),  # its beginning
        ("tlkmsel", "telkomsel", False),  # two
        ("ovi", "ovo", False),  # too short
        ("dnaa", "dana", True),
        ("axis", "axis", True),
        ("spotify1", "spotify2", False),  # a digit says another product
        ("spotify1", "spotify", False),
        ("spotifi1", "spotify1", True),
        ("danaa1", "dana1", True),
    ]:
        assert has_one_typo(typed, word) is near, typed
