"""A cashier's hands at the counter; the browser counts their keys."""

from playwright.sync_api import Page, expect

from purchases.models import Order
from testing.fleet import Fleet
from tests.journeys.helpers import sign_in, take_over

PHONE, METER, CUSTOMER = "081290000001", "12390000001", "123490000001"
COUNT_KEYS = "window.keys = 0; window.addEventListener('keydown', () => (window.keys += 1), {capture: true})"
MOST_KEYS = 6


class Hands:
    """A cashier's hands at the counter."""

    def __init__(self, page: Page, shop: Fleet, *, by_pin: str = "") -> None:
        self.page, self.field = page, page.locator("#counter-q")
        page.add_init_script(COUNT_KEYS)
        if by_pin:  # the code that makes this browser a till
            page.goto(f"{shop.url}/till/")
            page.fill("[name=code]", by_pin)
            page.keyboard.press("Enter")
            take_over(page, "Kasir")
            page.wait_for_load_state()  # before this, no script reads keys
        else:
            sign_in(page, shop.url, "cashier")
        page.keyboard.press("b")
        page.wait_for_url(f"{shop.url}/counter/")
        expect(self.field).to_be_focused()

    def type_number(self, number: str) -> None:
        """Type the digits of the number, which are not counted."""
        self.page.keyboard.type(number)
        self.page.evaluate("window.keys = 0")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def review(self) -> None:
        """Wait until the review may be sent."""
        expect(
            self.page.locator("#counter-review[data-ready], #counter-bill[data-ready]:has(#counter-pay)")
        ).to_be_visible()

    def sent(self) -> Order:
        """The order that was just sent; waits until the field is ready for the next customer."""
        ref_id = self.page.locator("#counter-said[data-sent]").get_attribute("data-sent")
        expect(self.field).to_be_focused()
        expect(self.field).to_have_value("")
        return Order.objects.get(ref_id=ref_id)

    def row(self, order: Order, status: str = "") -> None:
        """Wait until the order is in the strip in this status."""
        shown = f"[data-status={status}]" if status else ""
        expect(self.page.locator(f"[data-ref='{order.ref_id}']{shown}")).to_be_visible()

    @property
    def keys(self) -> int:
        return int(self.page.evaluate("window.keys"))


def keys_are_printed(page: Page) -> bool:
    """Whether each button that a key presses shows its key."""
    return bool(
        page.evaluate("""() => [...document.querySelectorAll("[data-act], [data-key], [data-pays]")]
            .every((one) => one.querySelector("kbd").textContent.toLowerCase()
                === (one.dataset.act ?? one.dataset.key ?? one.dataset.pays).toLowerCase())""")
    )
