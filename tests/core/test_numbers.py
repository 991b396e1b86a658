"""The module that masks customers' numbers."""

import json
from urllib.parse import parse_qsl

from core.numbers import as_seen, masked, masked_json, numbers_in, without


def test_a_number_keeps_its_first_four_and_last_three():
    for number, shown in {
        "081234567890": "0812•••••890",
        "0812-3456-7890": "0812-••••-•890",
        "1234567890": "1234•••890",
        "123456789": "•••••••89",
        "1234": "••34",
        "12": "••",
        "": "",
        "12345678 (1234)": "1234•••• (•234)",
        "0812•••••890": "0812•••••890",
    }.items():
        assert masked(number) == shown
    assert as_seen("081234567890") == "081234567890", "outside of a request"


def test_a_text_hides_a_phone_number_in_any_notation():
    for text in (
        "081234567890",
        "6281234567890",
        "+62 812-3456-7890",
        "0812 3456 7890",
        "0812.3456.7890",
        "(0812)34567890",
    ):
        hidden = without(f"sent to {text}, thanks", ["081234567890"])

        assert "•" in hidden
        assert "34567" not in "".join(c for c in hidden if c.isalnum()), text
    assert without("Rp112345 for 1234", ["1234"]) == "Rp112345 for ••34", "not inside of another number"


def test_a_number_in_escapes_of_json_is_hidden():
    for number in ("081234567890", "6281234567890", "0812-3456-7890", "1234"):
        escaped = "".join(rf"\u{ord(letter):04X}" for letter in number)
        body = rf'{{"destin\u0061tion": "{escaped}", "again": "{number[:2]}{escaped[12:]}", broken'

        shown = without(body, numbers_in(body))

        assert numbers_in(body) == {number}
        assert shown.count(masked(number)) == 2
        assert "u003" not in shown


def test_json_is_masked_by_field_and_wherever_its_number_stands():
    body = json.dumps({"data": {"destination": "081234567890"}})
    value = {
        "request": {"destination": "081299990001", "price": 10_500},
        "about": "Telkomsel → 081299990001",
        "list": [{"text": body}, 5, None],
        "message": "No product for 6281234567890",
        "query": "q=0812+3456+7890&since=2026-11-22",
    }

    text = json.dumps(masked_json(value), ensure_ascii=False)

    assert not [number for number in ("99990", "34567", "3456+7890") if number in text]
    assert masked_json(value)["request"]["price"] == 10_500
    assert "since=2026-11-22" in text


def test_a_number_of_json_is_masked_as_a_text_is():
    for number in (81234567890, 81234567890.0, 81234567890.5):
        value = {"destination": number, "message": "sent to 081234567890", "price": 10_500.0}

        assert masked_json(value) == {
            "destination": "8123••••890",
            "message": "sent to 08123••••890",
            "price": 10_500.0,
        }


def test_the_content_of_an_approval_is_masked_by_field_though_it_is_a_text():
    row = {"content": '{"below_cost":"as 081377077077","destination":"081299990001","price":10500000}'}

    assert json.loads(masked_json(row)["content"]) == {
        "below_cost": "as 0813•••••077",
        "destination": "0812•••••001",
        "price": 10_500_000,
    }
    assert masked_json({"content": "081299990001"}, "081299990001") == {"content": "0812•••••001"}


def test_a_broken_body_gives_its_number_away_and_a_sentence_no_word():
    for text in (
        '{"destination": "0812 3456"',
        "destination=0812",
        '{\\"destination\\": \\"0812\\"}',
        "destination: 0812",
    ):
        assert {number.replace(" ", "")[:4] for number in numbers_in(text)} == {"0812"}, text
    assert numbers_in("wrong destination: unknown to the biller") == set()


def test_the_filters_of_a_list_hide_a_number_and_its_parts():
    for query, shown in {
        "ends=081234567890&status=success": {"ends": "0812•••••890", "status": "success"},
        "q=567890&since=2026-11-22": {"q": "••••90", "since": "2026-11-22"},
        "q=%2B62+812-3456-7890": {"q": "+62 81•-••••-•890"},
        "q=081234567890+sari&customer=7": {"q": "0812•••••890 sari", "customer": "7"},
        "q=B261127-72345678XZ&shift=12": {"q": "B261127-72345678XZ", "shift": "12"},
    }.items():
        assert dict(parse_qsl(masked_json({"query": query})["query"])) == shown
