"""A typed line becomes filters, in both languages; what is not understood stays."""

import pytest

from purchases.reading import Names, read_line

NAMES = Names(
    {
        "cashier": {"kasir1": "kasir1", "kasir2": "kasir2", "sari": "sari", "saridewi": "sari"},
        "status": {"sukses": "success", "success": "success", "gagal": "failed", "perluditangani": "attention"},
        "payment": {"qris": "qris", "tunai": "cash", "cash": "cash"},
        "brand": {"telkomsel": "Telkomsel", "mobilelegends": "MOBILE LEGENDS"},
        "category": {"pulsa": "pulsa", "data": "data"},
    }
)
FIFTY = {"amount_from": "45000", "amount_to": "55000"}


@pytest.mark.parametrize(
    ("text", "filters", "rest"),
    [
        ("50 ribu kasir 1 minggu lalu 02", {**FIFTY, "cashier": "kasir1", "days": "last-week", "ends": "02"}, ""),
        ("50rb kasir1 kemarin", {**FIFTY, "cashier": "kasir1", "days": "yesterday"}, ""),
        ("50k yesterday", {**FIFTY, "days": "yesterday"}, ""),
        ("Rp50.000 hari ini", {**FIFTY, "days": "today"}, ""),
        ("rp 50.000", FIFTY, ""),
        ("50.000", FIFTY, ""),
        ("1,5 juta", {"amount_from": "1350000", "amount_to": "1650000"}, ""),
        ("2jt bulan lalu", {"amount_from": "1800000", "amount_to": "2200000", "days": "last-month"}, ""),
        ("di atas 100 ribu", {"amount_from": "100000"}, ""),
        ("under 20k today", {"amount_to": "20000", "days": "today"}, ""),
        ("> 10000 < 20000", {"amount_from": "10000", "amount_to": "20000"}, ""),
        ("10rb sampai 20rb", {"amount_from": "10000", "amount_to": "20000"}, ""),
        ("kasir sari bulan ini", {"cashier": "sari", "days": "month"}, ""),
        ("by sari dewi", {"cashier": "sari"}, ""),
        ("1 minggu lalu", {"days": "last-week"}, ""),
        ("last 7 days success", {"days": "7", "status": "success"}, ""),
        ("perlu ditangani", {"status": "attention"}, ""),
        ("gagal qris minggu ini", {"status": "failed", "payment": "qris", "days": "week"}, ""),
        ("telkomsel 50", {"brand": "Telkomsel", **FIFTY}, ""),
        ("telkomsel 02", {"brand": "Telkomsel", "ends": "02"}, ""),
        ("Mobile Legends kemarin", {"brand": "MOBILE LEGENDS", "days": "yesterday"}, ""),
        ("pulsa akhiran 7802", {"category": "pulsa", "ends": "7802"}, ""),
        ("ends in 123456", {"ends": "123456"}, ""),
        ("…02", {"ends": "02"}, ""),
        ("0812 3456 7890 kemarin", {"days": "yesterday"}, "0812 3456 7890"),
        ("kemarin B261125-ABC", {"days": "yesterday"}, "b261125-abc"),
        ("bu ani kemarin", {"days": "yesterday"}, "bu ani"),
        # one number, ref_id, SN or word as before
        ("02", {}, "02"),
        ("50000", {}, "50000"),
        ("4567891", {}, "4567891"),
        ("+62 812 3456 7890", {}, "+62 812 3456 7890"),
        ("1234 5678 9012 3456 7890", {}, "1234 5678 9012 3456 7890"),
        ("sn-find-me", {}, "sn-find-me"),
        ("kasir", {}, "kasir"),
        ("", {}, ""),
    ],
)
def test_a_line_becomes_filters(text, filters, rest):
    assert read_line(text, NAMES) == (filters, rest)


def test_digits_are_no_ending_for_people_who_may_not_see_numbers():
    assert read_line("kemarin 02", NAMES, with_endings=False) == ({"days": "yesterday"}, "02")
