"""A typed line becomes filters, in both languages; words that are not understood stay."""

import datetime as dt

from purchases.reading import Names, name_key, plain_price, read_line

TODAY = dt.date(2026, 11, 27)  # a Friday

NAMES = Names(
    {
        "cashier": {"kasir1": "kasir1", "kasir2": "kasir2", "sari": "sari", "saridewi": "sari"},
        "status": {"sukses": "success", "success": "success", "gagal": "failed", "perluditangani": "attention"},
        "payment": {"qris": "qris", "tunai": "cash", "cash": "cash", "kartuedc": "card", "edc": "card"},
        "brand": {"telkomsel": "Telkomsel", "mobilelegends": "MOBILE LEGENDS"},
        "category": {"pulsa": "pulsa", "data": "data"},
        "product": {"freefire140": "FF140"},
        "branch": {"stasiunkota": "12"},
        "drawer": {"laci1": "3", "depan": "4"},
        "profit": {"belowzero": "loss", "dibawahnol": "loss", "rugi": "loss"},
        "customer": {"busari": "7", "lilis": "8", "kasir1": "9", "hajirahmat": "10"},
    }
)
FIFTY = {"amount_from": "45000", "amount_to": "55000"}
FROM_TWENTY = {"amount_from": "20000", "amount_to": "50000"}


WEEK_AGO = {"since": "2026-11-17", "until": "2026-11-23"}
MONTH_AGO = {"since": "2026-10-13", "until": "2026-11-12"}


def days(since, until=None):
    return {"since": since, "until": until or since}


def test_a_line_becomes_filters():
    for text, filters, rest in [
        ("50 ribu kasir 1 minggu lalu 02", {**FIFTY, "cashier": "kasir1", "days": "last-week", "ends": "02"}, ""),
        ("50rb kasir1 kemarin", {**FIFTY, "cashier": "kasir1", "days": "yesterday"}, ""),
        ("50k yesterday", {**FIFTY, "days": "yesterday"}, ""),
        ("Rp50.000 hari ini", {**FIFTY, "days": "today"}, ""),
        ("rp 50.000", FIFTY, ""),
        ("50.000", FIFTY, ""),
        ("1,5 juta", {"amount_from": "1350000", "amount_to": "1650000"}, ""),
        ("2jt bulan lalu", {"amount_from": "1800000", "amount_to": "2200000", "days": "last-month"}, ""),
        *((f"minggu lalu {about} 50 ribu", {"days": "last-week", **FIFTY}, "") for about in ("sekitar", "kira-kira")),
        ("last week, about 50 thousand", {"days": "last-week", **FIFTY}, ""),
        (
            "last week, about 50 thousand, the number ends in 02, sold by the sari",
            {"days": "last-week", **FIFTY, "ends": "02", "cashier": "sari"},
            "",
        ),
        (
            "minggu lalu sekitar 50 ribu dijual oleh sari yang akhirannya 02",
            {"days": "last-week", **FIFTY, "ends": "02", "cashier": "sari"},
            "",
        ),
        ("budi, sold yesterday, number ending 02", {"days": "yesterday", "ends": "02"}, "budi"),
        ("pasar hari ini", {"days": "today"}, "pasar"),
        ("stasiun kota today", {"days": "today", "branch": "12"}, ""),
        ("cabang stasiun kota 50rb", {**FIFTY, "branch": "12"}, ""),
        ("around 50k yesterday", {**FIFTY, "days": "yesterday"}, ""),
        ("~50rb kemarin", {**FIFTY, "days": "yesterday"}, ""),
        ("kira kira 50 kemarin", {**FIFTY, "days": "yesterday"}, ""),
        ("sekitar pasar kemarin", {"days": "yesterday"}, "sekitar pasar"),
        ("kemarin sekitar pasar", {"days": "yesterday"}, "sekitar pasar"),
        ("50k or so, about last week", {**FIFTY, "days": "last-week"}, ""),
        ("a week or so ago 50k", {**FIFTY, **WEEK_AGO}, ""),
        ("50rb kira-kira budi kemarin", {**FIFTY, "days": "yesterday"}, "budi"),
        ("budi 50rb sekitar minggu lalu", {**FIFTY, "days": "last-week"}, "budi"),
        ("budi kemarin sekitar", {"days": "yesterday"}, "budi"),
        ("about or so", {}, "about or so"),
        ("di atas 100 ribu", {"amount_from": "100000"}, ""),
        ("under 20k today", {"amount_to": "20000", "days": "today"}, ""),
        ("> 10000 < 20000", {"amount_from": "10000", "amount_to": "20000"}, ""),
        ("10rb sampai 20rb", {"amount_from": "10000", "amount_to": "20000"}, ""),
        ("kasir sari bulan ini", {"cashier": "sari", "days": "month"}, ""),
        ("by sari dewi", {"cashier": "sari"}, ""),
        *((text, WEEK_AGO, "") for text in ("1 minggu lalu", "1 minggu yang lalu", "1 week ago", "a week ago")),
        ("last 7 days success", {"days": "7", "status": "success"}, ""),
        ("perlu ditangani", {"status": "attention"}, ""),
        ("gagal qris minggu ini", {"status": "failed", "payment": "qris", "days": "week"}, ""),
        ("telkomsel 50", {"brand": "Telkomsel", **FIFTY}, ""),
        ("telkomsel 02", {"brand": "Telkomsel", "ends": "02"}, ""),
        ("Mobile Legends kemarin", {"brand": "MOBILE LEGENDS", "days": "yesterday"}, ""),
        ("50an ribu kemarin ujung 45", {"days": "yesterday", **FIFTY, "ends": "45"}, ""),
        ("50-an rb minggu lalu", {"days": "last-week", **FIFTY}, ""),
        ("pulsa akhiran 7802", {"category": "pulsa", "ends": "7802"}, ""),
        ("ends in 123456", {"ends": "123456"}, ""),
        ("last week, 50 thousand, the number ended in 52", {"days": "last-week", **FIFTY, "ends": "52"}, ""),
        ("seminggu yang lalu 50 ribu", {**WEEK_AGO, **FIFTY}, ""),
        ("sebulan yang lalu 50 ribu", {**MONTH_AGO, **FIFTY}, ""),
        ("…02", {"ends": "02"}, ""),
        ("0812 3456 7890 kemarin", {"days": "yesterday"}, "0812 3456 7890"),
        ("kemarin B261125-ABC", {"days": "yesterday"}, "b261125-abc"),
        ("bu ani kemarin", {"days": "yesterday"}, "bu ani"),
        # signs between words
        ("last week, 50 thousand, number ends in 02", {"days": "last-week", **FIFTY, "ends": "02"}, ""),
        ("50rb, minggu lalu", {**FIFTY, "days": "last-week"}, ""),
        ("minggu lalu, 50 ribu, akhiran 07", {"days": "last-week", **FIFTY, "ends": "07"}, ""),
        ("kemarin; 50,000", {"days": "yesterday", **FIFTY}, ""),
        ("Rp50.000,00, kemarin.", {**FIFTY, "days": "yesterday"}, ""),
        ("rp. 50.000,- hari ini", {**FIFTY, "days": "today"}, ""),
        ("0812 3456 7890, kemarin", {"days": "yesterday"}, "0812 3456 7890"),
        ("kemarin, dan 50rb", {"days": "yesterday", **FIFTY}, ""),
        ("kemarin dan xyz", {"days": "yesterday"}, "dan xyz"),
        # days
        ("25 november", days("2026-11-25"), ""),
        ("25 nov", days("2026-11-25"), ""),
        ("25 november 2025", days("2025-11-25"), ""),
        ("Nov 25, 2026", days("2026-11-25"), ""),
        ("28 nov", days("2025-11-28"), ""),
        ("29 februari", days("2024-02-29"), ""),
        ("25/11", days("2026-11-25"), ""),
        ("25-11-2026", days("2026-11-25"), ""),
        ("tgl 25/11/26 50rb", {**days("2026-11-25"), **FIFTY}, ""),
        ("25 agustus, akhiran 07", {**days("2026-08-25"), "ends": "07"}, ""),
        ("1 - 15 november", days("2026-11-01", "2026-11-15"), ""),
        ("30 - 2 november", days("2026-10-30", "2026-11-02"), ""),
        ("28 sampai 3 januari 2026", days("2025-12-28", "2026-01-03"), ""),
        ("between 20 nov and 25 nov", days("2026-11-20", "2026-11-25"), ""),
        ("dari 20 des sampai 5 jan", days("2025-12-20", "2026-01-05"), ""),
        ("sejak 25 nov", {"since": "2026-11-25"}, ""),
        ("3 hari lalu", days("2026-11-24"), ""),
        ("3 hari yang lalu 50rb", {**days("2026-11-24"), **FIFTY}, ""),
        ("7 days ago", days("2026-11-20"), ""),
        ("1 day ago", {"days": "yesterday"}, ""),
        *((text, {"days": "last-week"}, "") for text in ("last week", "minggu lalu", "minggu kemarin")),
        *((text, {"days": "last-month"}, "") for text in ("last month", "bulan lalu", "bulan kemarin")),
        *((text, MONTH_AGO, "") for text in ("sebulan lalu", "1 bulan lalu", "a month ago", "1 month ago")),
        ("2 minggu lalu", days("2026-11-10", "2026-11-16"), ""),
        ("2 weeks ago", days("2026-11-10", "2026-11-16"), ""),
        ("2 bulan lalu", days("2026-09-13", "2026-10-13"), ""),
        ("a day ago", {"days": "yesterday"}, ""),
        ("sehari lalu", {"days": "yesterday"}, ""),
        ("last 3 days", days("2026-11-25", "2026-11-27"), ""),
        ("seminggu lalu", WEEK_AGO, ""),
        ("sekitar 50 ribu rabu lalu 53", {**FIFTY, **days("2026-11-25"), "ends": "53"}, ""),
        ("hari minggu 50rb", {**days("2026-11-22"), **FIFTY}, ""),
        ("last friday", days("2026-11-20"), ""),
        ("on monday, 50rb", {**days("2026-11-23"), **FIFTY}, ""),
        ("bu sari kamis kemarin", {"customer": "7", **days("2026-11-26")}, ""),
        # from and to
        ("antara 20rb dan 50rb", FROM_TWENTY, ""),
        ("between 20 and 50 thousand", FROM_TWENTY, ""),
        ("20-50rb kemarin", {**FROM_TWENTY, "days": "yesterday"}, ""),
        ("dari 20 sampai 50 ribu", FROM_TWENTY, ""),
        ("Rp20.000 - Rp50.000", FROM_TWENTY, ""),
        # round digits with days or an ending
        ("50000 last week", {**FIFTY, "days": "last-week"}, ""),
        ("kemarin 50000", {**FIFTY, "days": "yesterday"}, ""),
        ("50000 yesterday 02", {**FIFTY, "days": "yesterday", "ends": "02"}, ""),
        ("50000 akhiran 02", {**FIFTY, "ends": "02"}, ""),
        ("50000 02", {**FIFTY, "ends": "02"}, ""),
        ("50000 kemarin 20rb", {"days": "yesterday", "amount_from": "18000", "amount_to": "22000"}, "50000"),
        ("50250 kemarin", {"days": "yesterday"}, "50250"),
        ("050000 kemarin", {"days": "yesterday"}, "050000"),
        ("12345500 kemarin", {"days": "yesterday"}, "12345500"),
        ("kemarin akhiran 50000", {"days": "yesterday", "ends": "50000"}, ""),
        ("50000 1234 5678", {}, "50000 1234 5678"),
        # a usual amount in thousands beside an ending
        ("50 last week 02", {**FIFTY, "days": "last-week", "ends": "02"}, ""),
        ("50 02 kemarin", {**FIFTY, "days": "yesterday", "ends": "02"}, ""),
        ("02 kemarin 50", {**FIFTY, "days": "yesterday", "ends": "02"}, ""),
        ("50 kemarin akhiran 02", {**FIFTY, "days": "yesterday", "ends": "02"}, ""),
        ("akhiran 02 kemarin 50", {**FIFTY, "days": "yesterday", "ends": "02"}, ""),
        ("50 kemarin 20", {**FIFTY, "days": "yesterday", "ends": "20"}, ""),
        ("50 kemarin", {"days": "yesterday", "ends": "50"}, ""),
        ("53 kemarin 02", {"days": "yesterday", "ends": "53"}, "02"),
        # drawers and products
        ("laci 1 today", {"drawer": "3", "days": "today"}, ""),
        ("laci depan kemarin", {"drawer": "4", "days": "yesterday"}, ""),
        ("laci kemarin", {"days": "yesterday"}, "laci"),
        ("Free Fire 140", {"product": "FF140"}, ""),
        ("free fire 140 minggu lalu", {"product": "FF140", "days": "last-week"}, ""),
        # words of the app
        ("kartu edc", {"payment": "card"}, ""),
        ("Kartu (EDC), kemarin", {"payment": "card", "days": "yesterday"}, ""),
        ("berakhir 07", {"ends": "07"}, ""),
        ("nomor berakhiran 07", {"ends": "07"}, ""),
        ("ends 02", {"ends": "02"}, ""),
        ("ends with 02", {"ends": "02"}, ""),
        # customers: the longest name counts, and a single word only if it has no other meaning
        ("Bu Sari", {"customer": "7"}, ""),
        ("lilis bulan ini", {"customer": "8", "days": "month"}, ""),
        ("kasir1", {"cashier": "kasir1"}, ""),
        ("lilis, sold yesterday", {"customer": "8", "days": "yesterday"}, ""),
        ("yang dijual kemarin lilis", {"customer": "8", "days": "yesterday"}, ""),
        ("sold yesterday by lilis", {"days": "yesterday"}, "lilis"),
        ("bu lilis", {}, "bu lilis"),
        ("kemarin bu lilis", {"days": "yesterday"}, "bu lilis"),
        ("kemarin haji rahmat, 50rb", {"days": "yesterday", "customer": "10", **FIFTY}, ""),
        ("pelanggan Bu Sari", {"customer": "7"}, ""),
        ("customer lilis yesterday", {"customer": "8", "days": "yesterday"}, ""),
        ("pelanggan kemarin", {"days": "yesterday"}, "pelanggan"),
        # a profit is not a price
        ("untung di bawah 500", {}, "untung di bawah 500"),
        ("profit below 500", {}, "profit below 500"),
        ("laba di atas 50000 kemarin", {"days": "yesterday"}, "laba di atas 50000"),
        ("margin 500 today", {"days": "today"}, "margin 500"),
        ("untung antara 1rb dan 2rb, 50 ribu", FIFTY, "untung antara 1rb dan 2rb"),
        ("untung kemarin 50rb", {"days": "yesterday", **FIFTY}, "untung"),
        ("profit below zero", {"profit": "loss"}, ""),
        ("untung di bawah nol kemarin", {"profit": "loss", "days": "yesterday"}, ""),
        # a single number, ref_id, SN or word is a search as before
        ("02", {}, "02"),
        ("50000", {}, "50000"),
        ("4567891", {}, "4567891"),
        ("+62 812 3456 7890", {}, "+62 812 3456 7890"),
        ("1234 5678 9012 3456 7890", {}, "1234 5678 9012 3456 7890"),
        ("sn-find-me", {}, "sn-find-me"),
        ("kasir", {}, "kasir"),
        ("", {}, ""),
    ]:
        assert read_line(text, NAMES, today=TODAY) == (filters, rest), text


def test_digits_are_no_ending_for_people_who_may_not_see_numbers():
    for text, read in (("kemarin 02", ({"days": "yesterday"}, "02")), ("50000 02", ({}, "50000 02"))):
        assert read_line(text, NAMES, today=TODAY, with_endings=False) == read, text


def test_brackets_of_a_name_do_not_count():
    assert name_key("Kartu (EDC)") == name_key("kartu edc") == "kartuedc"


def test_digits_that_were_read_as_a_price_are_known():
    for text, digits in (("50000 kemarin", "50000"), ("50000 kemarin 02", ""), ("50rb kemarin", "")):
        assert plain_price(text, read_line(text, NAMES, today=TODAY)[0]) == digits, text
