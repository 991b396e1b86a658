"""A receipt at a till with a printer of its own: the page has the same lines as a job, and prints it once."""

import uuid

import pytest

from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_check, make_order, make_payment
from tests.purchases.printing import cashier_at_a_till, job_of, words_of
from tests.shop.helpers import papers_of, text_of
from tests.tills.helpers import give_pin, give_printer, take_over, till_browser
from tills.models import Till

pytestmark = pytest.mark.django_db


def print_it(browser, order, **typed):
    return browser.post(f"/orders/{order.ref_id}/receipt/", typed, follow=True)


def test_the_printer_gets_what_the_page_shows():
    check = make_check(details=[{"period": "Okt 2026", "amount": 60_000}], penalty=3_000, total=65_500)
    order = make_payment(check, Status.SUCCESS, sn="PAY-77", price=65_500)

    page = print_it(cashier_at_a_till(roll="80"), order)

    job, [paper] = job_of(page), papers_of(page)
    assert words_of(job) == text_of(paper).replace("–", "-").split()
    assert job["printer"] == {
        "way": "usb", "roll": 80, "language": "esc-pos", "codepage": "cp437", "speed": 9600
    }  # fmt: skip
    assert "usb=(self)" in page.headers["Permissions-Policy"]
    assert order.receipt_prints.get().paper == "80"


def test_a_print_comes_out_by_itself_once_and_an_old_one_that_is_looked_at_never():
    browser, order = cashier_at_a_till(), make_order(Status.SUCCESS, sn="1", price=10_500)

    first = print_it(browser, order)
    again = browser.get(first.request["PATH_INFO"])
    copy = print_it(browser, order)
    browser.post(f"/orders/{order.ref_id}/receipt/")  # the page with this copy is never opened
    old = browser.get(f"/orders/{order.ref_id}/receipt/1/")

    assert [job_of(answer)["now"] for answer in (first, again, copy, old)] == [True, False, True, False]


def test_several_bills_come_out_on_one_paper():
    batch, browser = uuid.uuid4(), cashier_at_a_till()
    for n in range(2):
        biller = make_biller(code=f"B{n}", name=f"PDAM {n}", category=f"pdam-{n}", brand=f"pdam-{n}")
        check = make_check(product=biller, destination=f"1234567{n}", batch=batch)
        make_payment(check, Status.SUCCESS, price=102_500, sn=f"PAY-{n}")

    page = browser.post(f"/bills/batch/{batch}/receipt/", follow=True)

    job, [paper] = job_of(page), papers_of(page)
    assert words_of(job) == text_of(paper).replace("–", "-").split()
    assert job["now"] is True


def test_papers_of_several_orders_come_out_once_with_a_cut_between_them():
    browser = cashier_at_a_till()
    refs = ",".join(make_order(Status.SUCCESS, sn=str(n)).ref_id for n in range(3))

    page = browser.post("/orders/receipts/", {"orders": refs}, follow=True)

    job = job_of(page)
    assert [line["kind"] for line in job["lines"]].count("cut") == 2
    assert words_of(job) == " ".join(map(text_of, papers_of(page))).replace("–", "-").split()
    assert job["now"] is True
    assert job_of(browser.get(page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"]))["now"] is False


def test_a5_and_browsers_without_a_printer_keep_the_print_window(cashier):
    order = make_order(Status.SUCCESS, sn="1", price=10_500)

    browser = till_browser()
    take_over(browser, give_pin(User.objects.get(username="cashier")))
    give_printer(Till.objects.get())

    for page in (print_it(browser, order, paper="a5"), print_it(cashier, order)):
        assert job_of(page) is None
        assert "data-print>" in page.content.decode()
        assert "usb=()" in page.headers["Permissions-Policy"]
