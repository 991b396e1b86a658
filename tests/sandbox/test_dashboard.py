"""The dashboard, as a person's browser uses it; and the control API."""

import re

import pytest
import requests

from testing.sandbox_process import eventually
from tests.sandbox.calls import NOT_FOUND, OPENING, PRICE, STATUS, Sandbox, callbacks, data_of, error_of, new_ref

LISTS = ["/transactions", "/bill-checks", "/balance", "/requests", "/callbacks", "/products"]
REFUSED = '<li class="error">'


class Browser:
    """Follows links and posts forms with their token."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.token = ""

    def see(self, path="/"):
        """The page at a path."""
        answer = self.session.get(f"{self.url}{path}", timeout=10)
        answer.raise_for_status()
        return answer.text

    def post(self, path, **fields):
        """Send a form; returns the page that follows."""
        if not self.token:
            self.token = self.see().split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        data = {"csrfmiddlewaretoken": self.token, **fields}
        answer = self.session.post(f"{self.url}{path}", data=data, timeout=10)
        answer.raise_for_status()
        return answer.text


@pytest.fixture
def browser(sandbox):
    person = Browser(sandbox.url)
    yield person
    person.session.close()


def test_every_page_is_marked_as_the_sandbox_while_empty(browser):
    for path in ("/", "/magic", *LISTS):
        assert "SANDBOX" in browser.see(path), path
        assert "SANDBOX" in browser.see(f"{path}?q=%00"), path


def test_every_page_shows_what_happened(sandbox, merchant, browser):
    ref_id = new_ref()
    sandbox.order("bill", ref_id)
    callbacks(merchant, ref_id)

    shown = {path: browser.see(path if path == "/products" else f"{path}?q={ref_id}") for path in LISTS}

    expected = dict.fromkeys(LISTS, ref_id) | {"/products": "TSEL1"}
    assert [path for path in LISTS if f"<code>{expected[path]}</code>" not in shown[path]] == []
    assert sandbox.secret_id in browser.see("/")
    assert "WEIRD_NEW_CODE" in browser.see("/magic")


def test_a_switched_off_account_is_refused_until_switched_on(sandbox, browser):
    for name, refusal in (("api_active", "API_INACTIVE"), ("verified", "ACCOUNT_NOT_VERIFIED")):
        browser.post("/account/switch", name=name, on="0")
        assert error_of(sandbox.call("/v1/balance")) == (403, refusal)
        browser.post("/account/switch", name=name, on="1")
        assert sandbox.call("/v1/balance").status_code == 200
    assert REFUSED in browser.post("/account/switch", name="balance", on="1")


def test_addresses_are_registered_unless_one_is_not_valid(sandbox, browser):
    assert REFUSED not in browser.post("/account/addresses", allowed_ips="10.0.0.1\r\n10.1.0.0/16")
    assert error_of(sandbox.call("/v1/balance")) == (403, "IP_NOT_ALLOWED")

    assert REFUSED in browser.post("/account/addresses", allowed_ips="10.0.0.x")

    assert sandbox.control("account")["allowed_ips"] == ["10.0.0.1", "10.1.0.0/16"]
    browser.post("/account/addresses", allowed_ips="")
    assert sandbox.call("/v1/balance").status_code == 200


def test_callback_settings_are_saved_unless_the_url_is_not_http(sandbox, browser):
    for url, is_refused in (("http://127.0.0.1:7/x", False), ("ftp://x/", True)):
        page = browser.post("/account/callback", callback_url=url, callback_style="md5_ref")
        assert (REFUSED in page) is is_refused

    kept = sandbox.control("account")
    assert (kept["callback_url"], kept["callback_style"]) == ("http://127.0.0.1:7/x", "md5_ref")


def test_money_is_topped_up_and_spent_by_the_rupiah(sandbox, browser):
    browser.post("/account/top-up", amount="1.500.000")
    browser.post("/account/spend", amount="1")

    moved = [(row["kind"], row["amount"], row["ref_id"]) for row in sandbox.control("ledger")["mutations"]]
    assert moved[1:] == [("topup", 1_500_000, None), ("adjustment", -1, None)]
    assert sandbox.balance() == OPENING + 1_499_999


def test_an_amount_that_is_not_whole_rupiah_or_too_much_moves_nothing(sandbox, browser):
    for amount in ("0", "-1", "1,5", "x", "", "9" * 30, "9" * 5000, "²"):
        for path in ("/account/top-up", "/account/spend"):
            assert REFUSED in browser.post(path, amount=amount), amount
    assert REFUSED in browser.post("/account/spend", amount=str(OPENING + 1))
    assert sandbox.balance() == OPENING


def test_a_pending_transaction_is_settled_by_a_button(sandbox, browser):
    for wanted in ("success", "failed"):
        ref_id = new_ref()
        sandbox.buy(ref_id, 3)
        assert f'/transactions/{ref_id}/settle"' in browser.see("/transactions")
        assert REFUSED in browser.post(f"/transactions/{ref_id}/settle", status="pending")

        page = browser.post(f"/transactions/{ref_id}/settle", status=wanted, next="/transactions?page=1")

        assert sandbox.status(ref_id)["status"] == wanted
        assert f'/transactions/{ref_id}/settle"' not in page
        refused = browser.post(f"/transactions/{ref_id}/settle", status="failed", next="https://example.com/")
        assert REFUSED in refused
        assert ref_id in refused, "a form never redirects to another site"
        assert sandbox.status(ref_id)["status"] == wanted


def test_a_product_is_made_dearer_unavailable_and_delisted(sandbox, browser):
    assert "Rp10.900" in browser.post("/products/TSEL10", price="10.900", state="active", next="/products?q=TSEL10")
    assert error_of(sandbox.buy(max_price=PRICE)) == (409, "PRICE_CHANGED")
    assert data_of(sandbox.buy(max_price=10_900))["price"] == 10_900
    browser.post("/products/TSEL10", price="10900", state="inactive")
    assert error_of(sandbox.buy()) == (503, "PRODUCT_UNAVAILABLE")
    browser.post("/products/TSEL10", price="10900", state="delisted")
    assert error_of(sandbox.buy()) == (404, "PRODUCT_NOT_FOUND")

    assert REFUSED in browser.post("/products/TSEL10", price="-5", state="active")

    assert error_of(sandbox.buy()) == (404, "PRODUCT_NOT_FOUND")


def test_a_long_list_has_pages_and_a_risen_price_stands_beside_the_usual_one(sandbox, browser):
    for _ in range(51):
        sandbox.call("/v1/balance")

    pages = [browser.see(f"/requests?page={page}").count("<code>/v1/balance</code>") for page in (1, 2)]

    assert pages == [50, 1]
    sandbox.buy(number=19, max_price=PRICE)
    page = browser.see("/products?q=TSEL10")
    assert [price in page for price in ("Rp10.250", "Rp10.750")] == [True, True]


def test_a_pending_inquiry_is_completed_by_a_button(sandbox, browser):
    ref_id = new_ref()
    sandbox.inquire(ref_id, 32)

    browser.post(f"/bill-checks/{ref_id}/complete")

    assert data_of(sandbox.inquire(ref_id, 32))["status"] == "valid"
    assert REFUSED in browser.post(f"/bill-checks/{ref_id}/complete")


def test_a_delivered_callback_is_resent_by_a_button(sandbox, merchant, browser):
    ref_id = new_ref()
    sandbox.buy(ref_id)
    [first] = callbacks(merchant, ref_id)
    eventually(lambda: sandbox.deliveries(ref_id)[0]["state"] == "delivered")

    browser.post(f"/callbacks/{first.headers['X-Delivery-Id']}/resend")

    again = callbacks(merchant, ref_id, 2)[1]
    assert (again.raw, again.headers["X-Delivery-Id"]) == (first.raw, first.headers["X-Delivery-Id"])


def test_each_request_is_kept_with_the_state_of_its_signature(sandbox):
    ref_id = new_ref()
    body = sandbox.signed(STATUS, ref_id=ref_id)
    for other in ({}, {"signature": "wrong"}, {"signature": None}, {"secret_id": "x"}):
        sandbox.post(STATUS, {name: value for name, value in {**body, **other}.items() if value})

    kept = sandbox.control("requests", ref_id=ref_id)["requests"]

    assert [(row["signature"], row["http_status"]) for row in kept] == [
        ("valid", 404),
        ("wrong", 401),
        ("absent", 400),
        ("not checked", 401),
    ]


def test_seeding_changes_only_what_no_person_changed(sandbox, browser):
    url = "http://127.0.0.1:{}/callbacks/upstream/"
    seeded = sandbox.secret_id, sandbox.secret_key
    sandbox.control("account", callback_url=url.format(8001))

    page = browser.post("/account/credentials")

    assert error_of(sandbox.call("/v1/balance")) == (401, "INVALID_CREDENTIALS")
    lines = dict(re.findall(r"<code>(UPSTREAM_SECRET_(?:ID|KEY))=([^<]+)</code>", page))
    # a given value that a person has set before counts as seeded
    sandbox.secret_id, sandbox.secret_key = lines["UPSTREAM_SECRET_ID"], lines["UPSTREAM_SECRET_KEY"]
    sandbox.seed(SANDBOX_CALLBACK_URL=url.format(8001))
    assert sandbox.call("/v1/balance").status_code == 200
    # so that a later seeding changes it
    sandbox.secret_id, sandbox.secret_key = seeded
    sandbox.seed(SANDBOX_CALLBACK_URL=url.format(8002))
    assert sandbox.call("/v1/balance").status_code == 200
    assert sandbox.control("account")["callback_url"] == url.format(8002)
    # but not a value that a person has set since
    sandbox.control("account", callback_url=url.format(9000))
    sandbox.seed(SANDBOX_CALLBACK_URL=url.format(8003))
    assert sandbox.control("account")["callback_url"] == url.format(9000)
    assert sandbox.balance() == OPENING


def test_a_form_without_its_token_another_host_and_a_foreign_page_do_nothing(sandbox):
    for path in ("/account/top-up", "/account/credentials", "/account/spend"):
        assert requests.post(f"{sandbox.url}{path}", data={"amount": "5"}, timeout=10).status_code == 403
    for path in ("/", "/control/ledger"):
        answer = requests.get(f"{sandbox.url}{path}", headers={"Host": "evil.example"}, timeout=10)
        assert answer.status_code == 400
    answer = requests.post(
        f"{sandbox.url}/control/topup", data='{"amount": 5}', headers={"Content-Type": "text/plain"}, timeout=10
    )
    assert answer.status_code == 405
    assert sandbox.balance() == OPENING


def test_control_refuses_a_value_that_is_not_valid(sandbox):
    before = sandbox.control("ledger")
    urls = ("ftp://127.0.0.1/x", "file:///x", "javascript:1", "http:///x", "http://[::1/x", "http://a/\0")
    for path, fields in [
        ("account", {"balance": -1}),
        ("account", {"balance": 1.5}),
        ("account", {"secret_key": "x"}),
        ("account", {"verified": "yes"}),
        ("account", {"allowed_ips": [5]}),
        *(("account", {"callback_url": url}) for url in urls),
        *(("account", {"limits": limits}) for limits in ({"nothing": 1}, {"account": 2.5}, {"window": 1e300})),
        ("settle", {"ref_id": "x", "status": "pending"}),
        ("topup", {"amount": 0}),
        ("product", {"product_code": "NOTHING", "price": 1}),
        ("product", {"product_code": "TSEL10", "status": "maybe"}),
        ("resend", {"ref_id": "nothing"}),
        *(("time", {"now": f"{year}-01-01T00:00:00+07:00"}) for year in ("0001", "9999")),
    ]:
        answer = requests.post(f"{sandbox.url}/control/{path}", json=fields, timeout=10)

        assert (answer.status_code, list(answer.json())) == (400, ["error"]), fields
        assert sandbox.control("ledger") == before, fields


def test_control_reset_restores_balance_and_catalogue(sandbox):
    ref_id = new_ref()
    sandbox.buy(ref_id)
    sandbox.control("product", product_code="TSEL10", price=1, vanished=True)
    sandbox.control("account", api_active=False, limits={"ip": 1})

    sandbox.control("reset")

    assert sandbox.balance() == OPENING
    assert error_of(sandbox.call(STATUS, ref_id=ref_id)) == NOT_FOUND
    assert data_of(sandbox.buy(ref_id))["price"] == PRICE
    assert sandbox.final(ref_id)["status"] == "success"


@pytest.fixture(scope="module")
def guarded():
    """A sandbox with a token, as ./run starts it, that sells no electricity at night."""
    process = Sandbox.fresh("guarded", SANDBOX_TOKEN="the-token-of-this-folder", SANDBOX_CUT_OFF="1")
    yield process
    process.remove()


def test_the_dashboard_opens_for_the_printed_link_alone(guarded):
    with requests.Session() as stranger, requests.Session() as owner:
        for path in ("/", *LISTS, "/?token=", "/?token=wrong", "/requests?token=the-token"):
            assert stranger.get(guarded.url + path, timeout=10).status_code == 403, path
        assert stranger.post(f"{guarded.url}/account/credentials", timeout=10).status_code == 403
        assert guarded.secret_key not in stranger.get(guarded.url, timeout=10).text

        first = owner.get(f"{guarded.url}/?token=the-token-of-this-folder", timeout=10)
        assert first.status_code == 200
        assert "token" not in first.url, "the link's secret stays out of the history"
        assert "HttpOnly" in first.history[0].headers["Set-Cookie"]
        assert owner.get(f"{guarded.url}/requests", timeout=10).status_code == 200

    assert guarded.call("/v1/balance").status_code == 200, "the wire has its signatures"


def test_the_control_api_answers_the_bearer_of_the_token_alone(guarded):
    ledger, topup = f"{guarded.url}/control/ledger", f"{guarded.url}/control/topup"
    with requests.Session() as owner:
        owner.get(f"{guarded.url}/?token=the-token-of-this-folder", timeout=10).raise_for_status()
        answers = [
            requests.get(ledger, timeout=10),
            requests.get(f"{ledger}?token=the-token-of-this-folder", timeout=10),
            owner.get(ledger, timeout=10),
            owner.post(topup, json={"amount": 5}, timeout=10),
        ]
    for words in ("", "Bearer ", "Bearer wrong", "the-token-of-this-folder", "Basic the-token-of-this-folder"):
        answers += [requests.post(topup, json={"amount": 5}, headers={"Authorization": words}, timeout=10)]

    assert [(answer.status_code, list(answer.json())) for answer in answers] == [(403, ["error"])] * len(answers)
    assert guarded.balance() == OPENING
    assert guarded.control("topup", amount=5) == {"balance": OPENING + 5}


def test_products_of_pln_say_when_they_are_not_sold_at_night(guarded):
    products = guarded.products()

    at_night = {code for code, row in products.items() if row["cut_off_start"]}
    assert {"PLN20", "PLNPASCA"} <= at_night
    assert "TSEL10" not in at_night
    assert (products["PLN20"]["cut_off_start"], products["PLN20"]["cut_off_end"]) == ("23:30", "00:30")
