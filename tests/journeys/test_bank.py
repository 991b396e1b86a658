"""The bank and the books, by hand: a file of an unknown bank, its columns, unknown and missing rows, a match."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from bank.models import BankRow, State
from staff.models import User
from staff.roles import create_demo_staff
from tests.bank.helpers import paid
from tests.drawers.helpers import begin
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, sign_in
from tests.ledger.helpers import open_books

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_an_owner_reads_a_statement_and_says_what_a_row_is(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    open_books(5_000_000)
    seller = User.objects.get(username="cashier")
    begin(seller)
    matched, missing = paid(seller, 50_000, "transfer"), paid(seller, 70_000, "transfer")
    day = f"{timezone.localdate():%d/%m/%Y}"
    rows = ["Wann;Was;Wieviel", f"{day};BUDI;50.000,00", f"{day};SARI;69.000,00", f"{day};ADM;-15.000,00"]
    file = {"name": "mutasi.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()}
    page, address = open_window(), live_server.url
    sign_in(page, address, "owner")

    # when: a file is chosen, which shows its columns, and all rows are kept
    page.goto(f"{address}/bank/")
    page.fill("[name=account]", "Bank 1")
    page.set_input_files("[name=file]", file)
    expect(page.locator("[name=day]")).to_have_value("0")
    page.select_option("[name=text]", "1")
    page.select_option("[name=amount]", "2")
    page.click("#bank-preview button:not([name])")
    expect(page.locator("#bank-sample tbody tr")).to_have_count(3)
    faults = faults_in_all_looks(page)
    page.click("[name=save]")

    # then: all rows are on the page, and each part shows its number and sum
    expect(page.locator(".bank-lines tbody tr")).to_have_count(4)
    for part, count, came in (("matched", 1, 50_000), ("missing", 1, 70_000), ("unknown", 2, 69_000)):
        tile = page.locator(f"[data-part={part}]")
        expect(tile).to_have_attribute("data-count", str(count))
        expect(tile).to_have_attribute("data-came", str(came))
        tile.click()
        expect(tile).to_have_attribute("aria-current", "page")
    faults += faults_in_both_languages(page)

    # when: one of the unknown rows is the missing sale
    page.click(".bank-lines tr[data-amount='69000'] a")
    page.check(f"[name=item][value='sale:{missing}']")
    page.fill("[name=reason]", "less the bank's fee")
    faults += faults_in_all_looks(page)
    page.click("[name=action][value=match]")

    expect(page.locator("#row[data-state=matched]")).to_be_visible()
    assert set(BankRow.objects.filter(state=State.MATCHED).values_list("item", flat=True)) == {
        f"sale:{matched}",
        f"sale:{missing}",
    }

    # when: a second file of the same shape is shown, and again while a person wants to keep it
    seen = [file_row.pk for file_row in BankRow.objects.all()]
    file["buffer"] = f"{rows[0]}\n{day};TINA;1.000".encode()
    page.goto(f"{address}/bank/")
    page.click("#to-read")
    page.set_input_files("[name=file]", file)
    expect(page.locator("#bank-sample tbody tr")).to_have_count(1)
    assert BankRow.objects.count() == len(seen)
    page.route("**/bank/read/", lambda route: (page.wait_for_timeout(1_000), route.continue_()))
    page.set_input_files("[name=file]", file)
    page.click("[name=save]")

    expect(page).to_have_url(f"{address}/bank/")
    assert BankRow.objects.count() == len(seen) + 1
    assert faults == []
