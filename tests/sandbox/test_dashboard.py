"""The dashboard, as a person's browser uses it; and the control API."""

import re
from collections.abc import Callable, Iterator

import pytest
import requests

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import balance, buy, check_bill, error_of, final, status
from tests.sandbox_process import SandboxProcess, eventually

Ref = Callable[[], str]


class Browser:
    """Follows links and posts forms with their token."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()

    def see(self, path: str = "/") -> str:
        """The page at a path."""
        answer = self.session.get(f"{self.url}{path}", timeout=10)
        answer.raise_for_status()
        return answer.text

    def post(self, path: str, **fields: str) -> str:
        """Send a form; the page that comes after it."""
        token = self.see("/").split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
        answer = self.session.post(f"{self.url}{path}", data={"csrfmiddlewaretoken": token, **fields}, timeout=10)
        answer.raise_for_status()
        return answer.text


@pytest.fixture
def browser(sandbox: SandboxProcess) -> Iterator[Browser]:
    person = Browser(sandbox.url)
    yield person
    person.session.close()


PAGES = ["/", "/transactions", "/bill-checks", "/balance", "/requests", "/callbacks", "/products", "/magic"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_that_it_is_the_sandbox_even_while_empty(browser: Browser, path: str) -> None:
    page = browser.see(path)
    assert "SANDBOX" in page
    assert "no real money" in page


@pytest.mark.parametrize("path", PAGES)
def test_every_page_shows_what_happened(
    sandbox: SandboxProcess, merchant: CallbackReceiver, browser: Browser, ref: Ref, path: str
) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id)
    sandbox.call("/v1/bill/pay", ref_id=ref_id)
    eventually(lambda: merchant.of(ref_id))
    final(sandbox, ref_id)
    page = browser.see(f"{path}?q={ref_id}" if path not in ("/", "/products", "/magic") else path)
    expected = {"/": sandbox.secret_id, "/products": "Telkomsel 1.000", "/magic": "WEIRD_NEW_CODE"}.get(path, ref_id)
    assert f">{expected}<" in page or expected in page.split("<h1>")[1]


def test_switches_activate_and_verify(sandbox: SandboxProcess, browser: Browser) -> None:
    browser.post("/account/switch", name="api_active", on="0")
    assert error_of(sandbox.call("/v1/balance")) == (403, "API_INACTIVE")
    browser.post("/account/switch", name="api_active", on="1")
    browser.post("/account/switch", name="verified", on="0")
    assert error_of(sandbox.call("/v1/balance")) == (403, "ACCOUNT_NOT_VERIFIED")
    browser.post("/account/switch", name="verified", on="1")
    assert sandbox.call("/v1/balance").status_code == 200


def test_addresses_are_registered_and_nonsense_is_refused(sandbox: SandboxProcess, browser: Browser) -> None:
    page = browser.post("/account/addresses", allowed_ips="10.0.0.1\r\n10.1.0.0/16")
    assert "2 addresses registered" in page
    assert error_of(sandbox.call("/v1/balance")) == (403, "IP_NOT_ALLOWED")
    assert "is not an IP address or network" in browser.post("/account/addresses", allowed_ips="10.0.0.x")
    assert sandbox.control("account")["allowed_ips"] == ["10.0.0.1", "10.1.0.0/16"]
    browser.post("/account/addresses", allowed_ips="")
    assert sandbox.call("/v1/balance").status_code == 200


def test_callback_settings_are_saved_and_nonsense_is_refused(sandbox: SandboxProcess, browser: Browser) -> None:
    browser.post("/account/callback", callback_url="http://127.0.0.1:7/x", callback_style="md5_ref")
    kept = sandbox.control("account")
    assert (kept["callback_url"], kept["callback_style"]) == ("http://127.0.0.1:7/x", "md5_ref")
    page = browser.post("/account/callback", callback_url="ftp://x/", callback_style="md5_ref")
    assert "must be an http or https address" in page
    assert sandbox.control("account")["callback_url"] == "http://127.0.0.1:7/x"


def test_money_is_topped_up_and_spent_by_the_rupiah(sandbox: SandboxProcess, browser: Browser) -> None:
    browser.post("/account/top-up", amount="1.500.000")
    browser.post("/account/spend", amount="1")
    assert balance(sandbox) == 11_499_999
    kinds = [(row["kind"], row["amount"], row["ref_id"]) for row in sandbox.control("ledger")["mutations"]]
    assert kinds[1:] == [("topup", 1_500_000, None), ("adjustment", -1, None)]


@pytest.mark.parametrize("amount", ["0", "-1", "1,5", "x", "", "9" * 30, "²"])
def test_other_amounts_move_nothing(sandbox: SandboxProcess, browser: Browser, amount: str) -> None:
    for path in ("/account/top-up", "/account/spend"):
        assert "whole number of rupiah above zero" in browser.post(path, amount=amount)
    assert balance(sandbox) == 10_000_000


def test_more_than_the_balance_cannot_be_spent(sandbox: SandboxProcess, browser: Browser) -> None:
    assert "does not cover" in browser.post("/account/spend", amount="10000001")
    assert balance(sandbox) == 10_000_000


@pytest.mark.parametrize("wanted", ["success", "failed"])
def test_a_pending_transaction_is_settled_by_a_button(
    sandbox: SandboxProcess, browser: Browser, ref: Ref, wanted: str
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000003")
    assert f'/transactions/{ref_id}/settle"' in browser.see("/transactions")
    page = browser.post(f"/transactions/{ref_id}/settle", status=wanted, next="/transactions?page=1")
    assert f"{ref_id}: {wanted}" in page
    assert status(sandbox, ref_id)["status"] == wanted
    assert f'/transactions/{ref_id}/settle"' not in page
    assert "is not pending any more" in browser.post(f"/transactions/{ref_id}/settle", status="failed")


def test_a_product_is_made_dearer_disturbed_and_taken_away(sandbox: SandboxProcess, browser: Browser, ref: Ref) -> None:
    page = browser.post("/products/TSEL10", price="10.900", state="active", next="/products?q=TSEL10")
    assert "Rp10.900" in page
    assert error_of(buy(sandbox, ref(), max_price=10_250)) == (409, "PRICE_CHANGED")
    assert buy(sandbox, ref(), max_price=10_900).json()["data"]["price"] == 10_900
    browser.post("/products/TSEL10", price="10900", state="inactive")
    assert error_of(buy(sandbox, ref())) == (503, "PRODUCT_UNAVAILABLE")
    browser.post("/products/TSEL10", price="10900", state="vanished")
    assert error_of(buy(sandbox, ref())) == (404, "PRODUCT_NOT_FOUND")
    assert "whole number of rupiah" in browser.post("/products/TSEL10", price="-5", state="active")
    assert error_of(buy(sandbox, ref())) == (404, "PRODUCT_NOT_FOUND")


def test_a_pending_bill_check_is_completed_by_a_button(sandbox: SandboxProcess, browser: Browser, ref: Ref) -> None:
    ref_id = ref()
    check_bill(sandbox, ref_id, destination="190000032")
    browser.post(f"/bill-checks/{ref_id}/complete")
    assert check_bill(sandbox, ref_id, destination="190000032").json()["data"]["status"] == "valid"


def test_a_callback_is_resent_by_a_button(
    sandbox: SandboxProcess, merchant: CallbackReceiver, browser: Browser, ref: Ref
) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    told = eventually(lambda: merchant.of(ref_id))[0]
    eventually(lambda: sandbox.control("deliveries", ref_id=ref_id)["deliveries"][0]["state"] == "delivered")
    browser.post(f"/callbacks/{told.headers['X-Delivery-Id']}/resend")
    assert eventually(lambda: merchant.of(ref_id)[1:])[0].raw == told.raw


def test_lists_are_paged(sandbox: SandboxProcess, browser: Browser) -> None:
    for _ in range(55):
        sandbox.call("/v1/balance")
    assert browser.see("/requests").count("<code>/v1/balance</code>") == 50
    assert browser.see("/requests?page=2").count("<code>/v1/balance</code>") == 5


def test_the_list_of_requests_shows_the_verdict_on_the_signature(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    body = sandbox.signed("/v1/transaction/status", ref_id=ref_id)
    sandbox.post("/v1/transaction/status", body)
    sandbox.post("/v1/transaction/status", {**body, "signature": "wrong"})
    sandbox.post("/v1/transaction/status", {key: value for key, value in body.items() if key != "signature"})
    sandbox.post("/v1/transaction/status", {**body, "secret_id": "x"})
    kept = sandbox.control("requests", ref_id=ref_id)["requests"]
    assert [(row["signature"], row["http_status"]) for row in kept] == [
        ("valid", 404),
        ("wrong", 401),
        ("absent", 400),
        ("not checked", 401),
    ]


def test_after_new_credentials_the_page_gives_the_lines_that_put_the_backoffice_right_again() -> None:
    own = SandboxProcess.fresh("renewed")
    made_up = own.secret_id, own.secret_key
    try:
        page = Browser(own.url).post("/account/credentials")
        assert "For the backoffice" in page
        lines = dict(re.findall(r"<code>(UPSTREAM_SECRET_(?:ID|KEY))=([^<]+)</code>", page))
        assert error_of(own.call("/v1/balance")) == (401, "INVALID_CREDENTIALS")

        own.secret_id, own.secret_key = lines["UPSTREAM_SECRET_ID"], lines["UPSTREAM_SECRET_KEY"]
        own.restart()
        assert own.call("/v1/balance").status_code == 200

        own.secret_id, own.secret_key = made_up
        own.restart()
        assert own.call("/v1/balance").status_code == 200
    finally:
        own.remove()


def test_forms_need_their_token(sandbox: SandboxProcess) -> None:
    for path in ("/account/top-up", "/account/credentials", "/account/spend"):
        assert requests.post(f"{sandbox.url}{path}", data={"amount": "5"}, timeout=10).status_code == 403
    assert balance(sandbox) == 10_000_000


def test_nobody_is_sent_elsewhere_after_a_form(sandbox: SandboxProcess, browser: Browser, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id, destination="081290000003")
    page = browser.post(f"/transactions/{ref_id}/settle", status="success", next="https://example.com/")
    assert "<h1>Transactions</h1>" in page


def test_other_hosts_names_are_refused(sandbox: SandboxProcess) -> None:
    for path in ("/", "/control/ledger"):
        answer = requests.get(f"{sandbox.url}{path}", headers={"Host": "evil.example"}, timeout=10)
        assert answer.status_code == 400


def test_control_refuses_what_a_foreign_page_could_send(sandbox: SandboxProcess) -> None:
    answer = requests.post(
        f"{sandbox.url}/control/topup", data='{"amount": 5}', headers={"Content-Type": "text/plain"}, timeout=10
    )
    assert answer.status_code == 405
    assert balance(sandbox) == 10_000_000


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("account", {"balance": -1}),
        ("account", {"balance": 1.5}),
        ("account", {"secret_key": "x"}),
        ("account", {"verified": "yes"}),
        ("account", {"limits": {"nothing": 1}}),
        ("settle", {"ref_id": "x", "status": "pending"}),
        ("topup", {"amount": 0}),
        ("product", {"product_code": "NOTHING", "price": 1}),
        ("product", {"product_code": "TSEL10", "status": "maybe"}),
        ("resend", {"ref_id": "nothing"}),
    ],
)
def test_control_says_what_is_wrong(sandbox: SandboxProcess, path: str, fields: dict[str, object]) -> None:
    before = sandbox.control("ledger")
    answer = requests.post(f"{sandbox.url}/control/{path}", json=fields, timeout=10)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert sandbox.control("ledger") == before


def test_control_reset_restores_balance_catalogue_and_forgets_the_rest(sandbox: SandboxProcess, ref: Ref) -> None:
    ref_id = ref()
    buy(sandbox, ref_id)
    sandbox.control("product", product_code="TSEL10", price=1, vanished=True)
    sandbox.control("account", api_active=False, limits={"ip": 1})
    sandbox.control("reset")
    assert balance(sandbox) == 10_000_000
    assert error_of(sandbox.call("/v1/transaction/status", ref_id=ref_id)) == (404, "TRANSACTION_NOT_FOUND")
    assert buy(sandbox, ref_id).json()["data"]["price"] == 10_250
