"""Every list has by its definition a file of exactly its rows, columns to choose, views, and a foot."""

import pytest

from bills.models import BillCheck
from complaints.services import move_complaint, open_complaint
from core.rights import Right
from customers.models import Customer, SavedNumber
from exports.models import Export, SavedView
from exports.services import content_of
from exports.tasks import write_list
from purchases.states import Status
from testing.factories import make_biller, make_check, make_order, make_payment
from testing.people import browser_of, make_person
from tests.core.helpers import cells, words_at
from tests.exports.helpers import by_the_worker, csv_rows, sheet_text
from tests.reconciliation.helpers import make_difference

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]


WHOLE, MASKED = "7777700002", "7777•••002"


def bills():
    biller = make_biller(fee=1_500)
    for number in range(4):
        make_check(product=biller, destination=f"777770000{number}", customer_name=f"BUDI {number}")
    make_check("refusal", product=biller, destination="8888800002", error_code="BILL_NOT_AVAILABLE", message="None.")
    make_payment(BillCheck.objects.get(destination="7777700000"), Status.SUCCESS)


def complaints():
    person = make_person("cashier", username="sari")
    for number in range(4):
        order = make_order(Status.SUCCESS, destination=f"777770000{number}")
        complaint = open_complaint(order, words="Not on the phone", actor=person)
    move_complaint(complaint, to="closed", words="It is there", actor=person)


def customers():
    for number in range(4):
        customer = Customer.objects.create(name=f"Bu Sari {number}", note=f"also 08127777000{number}")
        SavedNumber.objects.create(customer=customer, destination=f"777770000{number}", kind="phone")


def differences():
    make_difference(50_000)
    make_difference(-2_000)
    make_difference(70_000)


# address, its rows, queries, what names a row in the list and in the file, columns to choose with their fields, foot
LISTS = {
    "bills": (bills, ["", "state=valid", "q=BUDI", "days=today&q=7777"], "ref_id", "fee,product", "Rp"),
    "complaints": (complaints, ["", "state=all", "state=closed", "q=7777700001"], "order.ref_id", "due,order", "0"),
    "customers": (customers, ["", "q=Sari", "q=77777"], "name", "saved,name", "4"),
    "balance/differences": (differences, ["", "state=open", "label=unexplained_debit"], "amount", "note,kind", "Rp"),
}


def named(row, name):
    for part in name.split("."):
        row = getattr(row, part)
    return str(row)


@pytest.mark.parametrize("name", LISTS)
def test_a_file_holds_exactly_the_rows_of_the_list_and_masks_numbers_without_a_factor(name):
    make, queries, key, *_others = LISTS[name]
    make()
    browser = browser_of("supervisor")

    for query in queries:
        rows = sorted(browser.get(f"/{name}/?{query}").context["table"].rows, key=lambda row: row.pk)
        shown = [named(row, key) for row in rows]
        now = browser.get(f"/{name}/file/?{query}&format=csv")

        assert shown, query
        for content in (b"".join(now.streaming_content), by_the_worker(browser, name, query, "csv")):
            assert [row[key.rpartition(".")[2]] for row in csv_rows(content)] == shown, query
        sheet = sheet_text(by_the_worker(browser, name, query, "xlsx"))
        assert sheet.count("<row ") == len(shown) + 1, query
        assert all(row in sheet for row in shown), query
    if make is differences:
        return

    plain = b"".join(browser.get(f"/{name}/file/?format=csv").streaming_content).decode()
    refused = browser.post(f"/{name}/file/whole/", {"format": "csv"})
    whole = b"".join(browser.confirm(f"/{name}/file/whole/", {"format": "csv"}).streaming_content).decode()
    assert [text in plain for text in (MASKED, WHOLE, "081277770002")] == [True, False, False]
    assert not refused.streaming
    assert WHOLE in whole


def test_the_worker_finds_no_more_than_the_person_who_asks():
    bills()
    auditor = browser_of("auditor")  # sees masked numbers, so a part of a number finds nothing

    assert csv_rows(by_the_worker(auditor, "bills", "q=77777", "csv")) == []
    assert len(csv_rows(by_the_worker(auditor, "bills", f"q={WHOLE}", "csv"))) == 1


def take_away(codename, person):
    for group in person.groups.all():
        group.permissions.remove(*group.permissions.filter(codename=codename))


def test_a_file_is_closed_to_whoever_lost_the_right_to_a_column_or_to_its_list():
    customers()
    supervisor = browser_of("supervisor")
    by_the_worker(supervisor, "customers", "", "csv")
    whole = Export.objects.get()
    content = by_the_worker(supervisor, "customers", "columns=name,saved", "csv")
    without_debts = Export.objects.exclude(pk=whole.pk).get()
    assert supervisor.get(f"/files/{whole.pk}/").status_code == 200
    assert "debt" not in csv_rows(content)[0]

    take_away("view_credit", whole.owner)
    assert whole.owner.has_perms([Right.VIEW_CUSTOMERS, Right.VIEW_SHIFTS])
    assert [supervisor.get(f"/files/{export.pk}/").status_code for export in (whole, without_debts)] == [403, 200]
    row = cells(supervisor.get("/files/"), "download")[1]
    assert str(Right.VIEW_CREDIT.label) in row
    assert "new file" in row

    take_away("view_shifts", whole.owner)
    page = supervisor.get("/files/")
    assert f'href="/files/{without_debts.pk}/"' not in page.content.decode()
    row = cells(page, "download")[0]
    assert str(Right.VIEW_SHIFTS.label) in row
    assert "admin" in row


def test_a_file_needs_the_right_of_a_column_chosen_before_writing():
    customers()
    supervisor = browser_of("supervisor")
    supervisor.post("/customers/columns/", {"column": ["name", "saved"]})
    supervisor.post("/customers/file/?format=csv")
    supervisor.post("/customers/columns/", {"column": ["name", "debt"]})
    export = Export.objects.get()
    write_list(export.pk)
    take_away("view_credit", export.owner)

    assert "debt" in csv_rows(b"".join(content_of(export)))[0]
    assert supervisor.get(f"/files/{export.pk}/").status_code == 403


@pytest.mark.parametrize("name", LISTS)
def test_a_list_has_columns_views_and_a_foot(name):
    make, queries, _key, columns, foot = LISTS[name]
    make()
    supervisor, query = browser_of("supervisor"), queries[1]

    supervisor.post(f"/{name}/columns/", {"column": columns.split(",")})
    supervisor.post(f"/{name}/views/save/?{query}", {"name": "Mine"})
    page = supervisor.get(f"/{name}/?{query}")
    views = supervisor.get(f"/{name}/views/?{query}")

    assert [column.name for column in page.context["table"].columns] == columns.split(",")
    assert SavedView.objects.get(name="Mine").query.startswith(query.split("&")[0])
    assert [view.count for view in views.context["views"] if view.name == "Mine"] == [str(len(page.context["table"]))]
    words = words_at(supervisor.get(f"/{name}/sums/?{query}", headers={"HX-Request": "true"}), 'id="list-sums"')
    assert words.split()[0] == str(len(page.context["table"]))
    assert foot in words


def test_a_foot_says_one_bill_and_two_bills():
    supervisor = browser_of("supervisor")

    for words in ("1 bill", "2 bills"):
        make_check()
        assert supervisor.get("/bills/sums/").context["rows_shown"] == words


def test_the_foot_of_bills_sums_what_is_paid_and_what_can_be_paid():
    bills()
    [paid] = BillCheck.objects.filter(order__status=Status.SUCCESS).select_related("order", "product")
    payable = BillCheck.objects.filter(order=None, answer="bill").select_related("product")

    facts = browser_of("supervisor").get("/bills/sums/").context["facts"]

    amounts = [int("".join(filter(str.isdigit, number))) for _words, number in facts]
    assert amounts == [paid.to_pay, sum(check.to_pay for check in payable)]


def test_a_cashier_makes_no_file_of_everybody():
    cashier = browser_of("cashier")
    for name in ("bills", "complaints", "customers"):
        assert cashier.get(f"/{name}/file/?format=csv").status_code == 403, name
        assert 'id="make-csv"' not in cashier.get(f"/{name}/").content.decode(), name


def test_what_moves_keeps_its_columns():
    check = make_check("none", destination="8888800002")
    supervisor = browser_of("supervisor")
    supervisor.post("/bills/columns/", {"column": ["product", "period"]})

    assert "columns=product%2Cperiod" in supervisor.get("/bills/").context["live"].ask
    answer = supervisor.get(f"/bills/live/?columns=product,period&seen=row-{check.pk}~old").content.decode()

    assert 'class="c-period' in answer
    assert 'class="c-destination' not in answer
