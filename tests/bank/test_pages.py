"""The pages of the bank: a file is read in two steps, once; the parts; decisions about a row; the rights."""

import csv
import datetime as dt
import io
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from audit.models import AuditEvent
from bank import views
from bank.models import BankAccount, BankFile, BankRow, State
from core.times import day_words, hour
from credit.methods import method_words
from purchases.models import Order
from reconciliation.services import announce_top_up
from staff.models import User
from testing.database import tamper
from testing.people import browser_of, make_person
from tests.bank.helpers import CONFIRMED, file_of, paid, today, upload
from tests.core.helpers import codes, has_id, words

KNOWN = "Tanggal;Keterangan;Jumlah"
pytestmark = pytest.mark.django_db


def test_given_an_unknown_bank_then_the_columns_are_chosen_once(sold):
    browser = browser_of("administrator")
    rows = today("BUDI", "50.000"), today("ADM", "-15.000")

    shown = upload(browser, file_of(*rows))
    assert (shown.status_code, [*shown.context["columns"].fields][:3]) == (200, ["day", "text", "amount"])
    wrong = upload(browser, file_of(*rows), day=0, text=1, save=1)
    assert wrong.context["columns"].errors.as_data()["__all__"][0].code == "no_amount"
    looked_at = upload(browser, file_of(*rows, "PEND;NOT YET;1.000"), day=0, text=1, amount=2)
    assert [(row.text, row.amount) for row in looked_at.context["sample"]] == [("BUDI", 50_000), ("ADM", -15_000)]
    assert (looked_at.context["row_count"], looked_at.context["left_out"]) == (2, 1)  # the pending row, not the heading
    assert "2: ADM" in str(looked_at.context["columns"]["text"]), "the example is a booking"
    assert not BankRow.objects.exists()

    kept = upload(browser, file_of(*rows), **CONFIRMED)
    assert kept.headers["Location"] == "/bank/"
    assert BankAccount.objects.get().most_fee == 70
    known = upload(browser, file_of(*rows), **CONFIRMED)
    assert known.context["refusal"].reason == "known"


def test_given_known_columns_then_rows_are_kept_once_they_were_shown_for_this_account(sold):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)

    for pressed in ({}, {"read": "1"}, {"save": "BRI 2"}):  # it was shown before, or shown for another account
        shown = upload(browser, file_of(today("SARI", "20.000")), **pressed)
        assert [row.text for row in shown.context["sample"]] == ["SARI"], pressed
        assert 'name="save" value="BCA 1"' in shown.content.decode()
        assert BankRow.objects.count() == 1
    kept = upload(browser, file_of(today("SARI", "20.000")), save="BCA 1")
    assert kept.headers["Location"] == "/bank/"
    assert BankRow.objects.count() == 2


def test_a_file_that_is_chosen_is_looked_at_and_not_read(sold):
    browser = browser_of("administrator")
    as_chosen = {"headers": {"HX-Request": "true"}}

    def look(file: SimpleUploadedFile, account: str = "") -> Any:
        return browser.post("/bank/read/", {"account": account, "fee": "1", "file": file}, **as_chosen)

    unknown = look(file_of("BUDI;50.000;25/11/2026", heading="Was;Wieviel;Wann"))
    assert (unknown.context["form"].errors, unknown.context["columns"]["day"].value()) == ({}, 2)
    assert 'id="columns-choice" open' in unknown.content.decode(), "a person has to choose"

    named = look(file_of("x;y;z", KNOWN, today("BUDI", "50.000"), today("ADM", "-9"), heading="BCA;1;2"))
    sent, (day, *_texts) = named.content.decode(), named.context["columns"].found
    assert 'id="columns-choice">' in sent
    assert sent.index(str(day)) < sent.index('id="bank-sample"') < sent.index('id="columns-choice"')
    assert (named.context["row_count"], named.context["left_out"]) == (2, 0)

    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)
    known = look(file_of(today("SARI", "20.000")), "BCA 1")
    assert [row.text for row in known.context["sample"]] == ["SARI"]
    assert BankRow.objects.count() == 1
    assert browser.get("/bank/read/").context["form"]["account"].value() == "BCA 1"


def test_given_a_wrong_field_or_row_then_the_page_says_which_and_nothing_is_read(sold):
    browser = browser_of("administrator")
    for field, typed in [("fee", "11"), ("fee", "x"), ("account", " ")]:
        answer = upload(browser, file_of(today("BUDI", "50.000"), heading=KNOWN), **{**CONFIRMED, field: typed})

        assert [*answer.context["form"].errors] == [field], field
    for reason, rows in {
        "bad_day": (today("BUDI", "50.000"), "31/02/2026;BUDI;50.000"),
        "bad_amount": (today("BUDI", "50.000"), "25/11/2026;BUDI;fifty"),
        "no_rows": ("PEND;BUDI;1",),
    }.items():
        answer = upload(browser, file_of(*rows), **CONFIRMED)

        assert answer.context["refusal"].reason == reason, rows
    assert not BankFile.objects.exists()


def test_given_a_file_then_the_parts_the_links_and_the_csv_say_the_same(sold):
    browser = browser_of("administrator")
    upload(
        browser,
        file_of(today("BUDI", "50.000"), today("=ADM", "-15.000"), heading=KNOWN),
        **CONFIRMED,
    )

    page = browser.get("/bank/", {"show": "matched"})
    assert f'href="/orders/{sold}/"' in page.content.decode()
    for part, is_offered in [("matched", True), ("unknown", True), ("missing", False), ("aside", False)]:
        assert ('id="match-again"' in browser.get("/bank/", {"show": part}).content.decode()) is is_offered, part
    order = Order.objects.get(ref_id=sold)
    assert f"{order.product_name} · {hour(order.created_at)} · {method_words('transfer')}" in words(page)
    answer = b"".join(browser.get("/bank/csv/").streaming_content).decode("utf-8-sig")
    rows = [(row["state"], row["amount"], row["text"], row["item"]) for row in csv.DictReader(io.StringIO(answer))]
    assert rows == [("unknown", "-15000", "'=ADM", ""), ("matched", "50000", "BUDI", f"sale:{sold}")]

    # then: the file has the bank's reference whole for people who see numbers
    tamper("UPDATE bank_bankrow SET reference = 'FT2633412345'")

    def references() -> set[str]:
        answer = b"".join(browser.get("/bank/csv/").streaming_content).decode("utf-8-sig")
        return {row["reference"] for row in csv.DictReader(io.StringIO(answer))}

    assert references() == {"FT2633412345"}
    Group.objects.get(name="administrator").permissions.remove(Permission.objects.get(codename="view_number"))
    assert references() == {"FT2633•••345"}


def test_given_entries_in_no_statement_yet_then_the_file_has_those_of_the_page(sold):
    browser, earlier = browser_of("administrator"), timezone.localdate() - dt.timedelta(days=3)
    upload(browser, file_of(f"{earlier:%d/%m/%Y};ADM;-15.000"), **CONFIRMED)

    [(_part, lines)] = browser.get("/bank/", {"show": "beyond"}).context["parts_shown"]
    answer = b"".join(browser.get("/bank/csv/").streaming_content).decode("utf-8-sig")

    rows = [(row["state"], row["item"]) for row in csv.DictReader(io.StringIO(answer)) if row["item"]]
    assert rows == [("beyond", line.key) for line in lines] == [("beyond", f"sale:{sold}")]


def test_given_a_row_then_a_person_sets_it_aside_matches_it_and_takes_that_away(sold):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "49.000"), heading=KNOWN), **CONFIRMED)
    row = BankRow.objects.get()
    address = f"/bank/rows/{row.pk}/"

    def decide(action: str, **fields: str) -> str:
        browser.post(f"{address}decide/", {"action": action, "reason": "as the customer says", **fields})
        row.refresh_from_db()
        return row.state

    assert browser.get(address).status_code == 200
    assert browser.post(f"{address}decide/", {"action": "aside", "reason": ""}).context["form"].errors.keys() == {
        "reason"
    }
    assert decide("match", item="sale:nobody") == State.UNKNOWN
    assert decide("match", item=f"sale:{sold}") == State.MATCHED
    assert decide("away") == State.UNKNOWN
    assert decide("aside") == State.ASIDE
    assert b"as the customer says" in browser.get("/bank/", {"show": "aside"}).content
    assert b"as the customer says" in browser.get("/audit/").content
    asked = browser.get("/bank/read/").content.decode()
    assert 'data-rows="1" data-decided="1"' in asked.split("<details", 1)[1]  # the second press takes it back
    back = f"/bank/files/{BankFile.objects.get().pk}/back/"
    answers = [browser.post(back, follow=True) for _press in range(2)]
    assert [answer.redirect_chain for answer in answers] == [[("/bank/read/", 302)]] * 2
    assert "bank_file_back" in codes(answers[0])
    assert codes(answers[1]) == {"BankRefused:back"}
    assert AuditEvent.objects.filter(kind="bank_file_taken_back").count() == 1
    assert not BankRow.objects.exists()


def test_given_no_fee_typed_then_the_account_keeps_the_one_it_has(sold):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)
    shown = browser.get("/bank/read/").context["form"]["fee"].value() or ""

    upload(browser, file_of(today("SARI", "20.000")), save="BCA 1", fee=shown)
    upload(browser, file_of(today("ANI", "30.000")), **CONFIRMED | {"save": "BRI 2"}, account="BRI 2", fee=shown)

    assert dict(BankAccount.objects.values_list("name", "most_fee")) == {"BCA 1": 70, "BRI 2": 100}


def test_given_a_known_account_in_other_letters_then_no_second_one_is_made(sold):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)
    other = {"account": "bca  1", "save": "bca  1"}

    shown = upload(browser, file_of(today("SARI", "20.000")), account="bca1")
    upload(browser, file_of(today("SARI", "20.000")), **other)
    known = upload(browser, file_of(today("SARI", "20.000")), **other)

    assert [row.text for row in shown.context["sample"]] == ["SARI"]
    assert list(BankAccount.objects.values_list("name", flat=True)) == ["BCA 1"]
    assert known.context["refusal"].reason == "known"
    event = AuditEvent.objects.filter(kind="bank_file_read").latest("pk")
    assert event.facts["bank_account"] == "BCA 1"


def test_given_the_file_is_taken_back_during_a_decision_then_nothing_is_noted(sold, monkeypatch):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "49.000"), heading=KNOWN), **CONFIRMED)
    row, noted, decide = BankRow.objects.get(), AuditEvent.objects.count(), views._decide

    def decide_later(*facts: Any) -> None:
        BankFile.objects.all().delete()
        decide(*facts)

    monkeypatch.setattr(views, "_decide", decide_later)

    answer = browser.post(f"/bank/rows/{row.pk}/decide/", {"action": "aside", "reason": "private"})

    assert (answer.status_code, answer["Location"]) == (302, "/bank/")
    assert AuditEvent.objects.count() == noted


def test_given_two_files_with_the_same_day_then_each_names_the_other(sold):
    browser, day = browser_of("administrator", language="en"), day_words(timezone.localdate())
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)
    alone = browser.get("/bank/read/").content.decode()
    upload(browser, file_of(today("BUDI", "50.000"), today("ANI", "30.000")), **CONFIRMED)
    upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED | {"save": "BRI 2"}, account="BRI 2")

    page = browser.get("/bank/read/").content.decode()

    assert "data-others" not in alone
    assert re.findall(r'data-others="([^"]*)"', page) == [f"mutasi.csv ({day})"] * 2


def test_a_row_that_is_matched_by_hand_says_how_it_differs(sold):
    browser = browser_of("administrator")
    upload(browser, file_of(today("BUDI", "49.000"), today("ANI", "75.000"), heading=KNOWN), **CONFIRMED)
    for text, said in (("BUDI", "Rp1.000 less at the bank"), ("ANI", "Rp25.000 more at the bank")):
        address = f"/bank/rows/{BankRow.objects.get(text=text).pk}/"
        choice = {"action": "match", "item": f"sale:{sold}"}

        without_reason = browser.post(f"{address}decide/", {**choice, "reason": ""}).content.decode()
        browser.post(f"{address}decide/", {**choice, "reason": "as the customer says"})

        assert re.search(rf'value="sale:{sold}"\s+checked', without_reason), text
        assert said in browser.get(address).content.decode()
        assert said in browser.get("/bank/", {"show": "matched"}).content.decode()
        browser.post(f"{address}decide/", {"action": "away", "reason": "another"})


def test_few_lines_are_shown_together_and_of_many_what_is_missing_else_the_next_part_with_rows(sold, monkeypatch):
    browser = browser_of("administrator")

    def opened(query: str = "") -> list[tuple[str, int]]:
        page = browser.get(f"/bank/{query}")
        return [(part.name, len(lines)) for part, lines in page.context["parts_shown"]]

    upload(browser, file_of(today("ADM", "-15.000")), **CONFIRMED)
    assert opened() == [("missing", 1), ("unknown", 1)]
    with monkeypatch.context() as many:
        many.setattr(views, "_TOGETHER", 1)
        assert opened() == [("missing", 1)]
        upload(browser, file_of(today("BUDI", "50.000")), **CONFIRMED)
        assert opened() == [("missing", 0), ("unknown", 1)]
    page = browser.get("/bank/")
    assert opened() == [("missing", 0), ("unknown", 1), ("matched", 1)]
    assert [has_id(page, name) for name in ("none-missing", "match-again")] == [True, True]
    BankRow.objects.filter(text="ADM").delete()
    assert opened() == [("missing", 0), ("matched", 1)]
    assert opened("?show=missing") == [("missing", 0)]
    BankFile.objects.update(first_day=dt.date(2026, 1, 1), last_day=dt.date(2026, 1, 1))
    BankRow.objects.all().delete()
    assert opened() == [("missing", 0), ("beyond", 1)]
    assert '<span class="figure quiet">–</span>' in browser.get("/bank/").content.decode()


def test_after_an_older_file_the_page_has_its_days(sold):
    first, last = (timezone.localdate() - dt.timedelta(days=days) for days in (30, 9))

    kept = upload(
        browser_of("administrator"), file_of(*(f"{day:%d/%m/%Y};ADM;-9" for day in (last, first))), **CONFIRMED
    )

    assert kept.headers["Location"] == f"/bank/?since={first}&until={last}"


def test_before_a_statement_is_read_the_page_says_to_read_one_and_what_the_books_expect(sold):
    seller, administrator = User.objects.get(username="cashier"), browser_of("administrator")
    for query in ("", "?show=missing", "?show=unknown"):
        page = administrator.get(f"/bank/{query}").content.decode()
        days, advice = page.split('id="no-statement"')
        assert 'id="bank-days"' in days, "it comes first"
        assert 'id="bank-form"' in advice
        assert 'id="bank-expected"' in advice
        assert "data-part=" not in page
    assert "/bank/read/" not in browser_of("auditor").get("/bank/").content.decode()
    paid(seller, 20_000, "transfer")
    paid(seller, 7_000, "qris")
    announce_top_up(amount=300_000, note="", actor=make_person("admin"))

    page = administrator.get("/bank/?show=missing&days=today").content.decode()

    rows = re.findall(r'data-way="(\w+)" data-came="(\d+)"\s+data-left="(\d+)"', page)
    assert rows == [("transfer", "70000", "0"), ("qris", "7000", "0"), ("topup", "0", "300000")]
    link = re.search(r'id="to-earnings"\s+href="([^"]*)"', page)[1].replace("&amp;", "&")
    assert 'id="earned-by" data-by="method"' in administrator.get(link).content.decode()

    upload(administrator, file_of(today("BUDI", "50.000")), **CONFIRMED)
    assert 'id="bank-expected"' not in administrator.get("/bank/?show=missing&days=today").content.decode()


def test_an_auditor_reads_and_decides_nothing(sold):
    upload(browser_of("administrator"), file_of(today("BUDI", "49.000")), **CONFIRMED)
    row, browser = BankRow.objects.get(), browser_of("auditor")

    assert browser.get(f"/bank/rows/{row.pk}/").status_code == 200
    assert b'id="decision"' not in browser.get(f"/bank/rows/{row.pk}/").content
    assert browser.post(f"/bank/rows/{row.pk}/decide/", {"action": "aside", "reason": "x"}).status_code == 403
    assert browser.post("/bank/match/").status_code == 403
    assert BankRow.objects.get().state == State.UNKNOWN
