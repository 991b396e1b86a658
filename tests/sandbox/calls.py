"""The sandbox as its tests call it: a merchant's requests, and the control API. Money is rupiah."""

from itertools import count

from testing.sandbox_process import SandboxProcess, eventually

PHONE = "081234567890"
PRODUCT = "TSEL10"
PRICE = 10_250
OPENING = 10_000_000
BILL = "PDAMBOGOR"
CUSTOMER = "7001234"
KINDS = ("purchase", "bill")
CREATE, STATUS, INQUIRY, PAY = "/v1/transaction/create", "/v1/transaction/status", "/v1/bill/inquiry", "/v1/bill/pay"
NOT_FOUND = (404, "TRANSACTION_NOT_FOUND")
CUT_OFF, UNAVAILABLE = (503, "CUT_OFF"), (503, "PRODUCT_UNAVAILABLE")
# scenario → the first answer, and the contents of the callbacks
OUTCOMES = {
    1: ("pending", ["true"]),
    2: ("pending", ["true"]),
    3: ("pending", []),
    4: ("pending", ["true"]),
    5: ("cut", []),
    6: ("pending", []),
    7: ("HTTP 500", []),
    8: ("broken JSON", []),
    9: ("another ref_id, success", []),
    10: ("price not whole", []),
    11: ("cut", []),
    12: ("cut", ["true"]),
    13: ("pending", ["true"]),
    14: ("pending", ["true", "true"]),
    15: ("pending", []),
    16: ("pending", ["true", "stale"]),
    17: ("pending", ["forged", "true"]),
    18: ("pending", ["true", "contradiction"]),
}
# kind, scenario, refusal
REFUSED_ALWAYS = [
    ("purchase", 21, CUT_OFF),
    ("bill", 21, CUT_OFF),
    ("purchase", 22, UNAVAILABLE),
    ("bill", 22, UNAVAILABLE),
    ("purchase", 23, (422, "INVALID_DESTINATION")),
    ("bill", 37, (422, "BILL_ALREADY_PAID")),
    ("bill", 38, (404, "BILL_NOT_FOUND")),
]
_numbers = count(1)


def new_ref():
    """A ref_id that no other test uses."""
    return f"T{next(_numbers):05d}"


def magic(number):
    """The phone number of a scenario."""
    return f"0812900000{number:02d}"


def magic_bill(number):
    """The customer number of a scenario."""
    return f"1900000{number:02d}"


def data_of(response):
    """The data of a success envelope."""
    assert response.status_code == 200, response.text
    return response.json()["data"]


def error_of(response):
    """HTTP status and error_code of an error envelope."""
    return response.status_code, response.json()["error_code"]


def callbacks(merchant, ref_id, count=1):
    """The callbacks about a ref_id, once `count` of them have arrived."""
    return eventually(lambda: merchant.of(ref_id)[count - 1 :] and merchant.of(ref_id))


class Sandbox(SandboxProcess):
    """Sends a merchant's requests; `number` is a scenario, `fields` replace fields of the request."""

    def buy(self, ref_id=None, number=None, **fields):
        """Create a purchase of a Telkomsel 10.000."""
        destination = PHONE if number is None else magic(number)
        given = {"ref_id": ref_id or new_ref(), "product_code": PRODUCT, "destination": destination}
        return self.call(CREATE, **{**given, **fields})

    def inquire(self, ref_id=None, number=None, **fields):
        """Inquire a water bill."""
        destination = CUSTOMER if number is None else magic_bill(number)
        given = {"ref_id": ref_id or new_ref(), "product_code": BILL, "destination": destination}
        return self.call(INQUIRY, **{**given, **fields})

    def pay(self, ref_id, **fields):
        """Pay an inquired bill."""
        return self.call(PAY, ref_id=ref_id, **fields)

    def order(self, kind, ref_id, number=None):
        """Buy, or inquire and pay: `kind` is one of KINDS."""
        if kind == "purchase":
            return self.buy(ref_id, number)
        self.inquire(ref_id, number)
        return self.pay(ref_id)

    def status(self, ref_id):
        """The Transaction from the status endpoint."""
        return data_of(self.call(STATUS, ref_id=ref_id))

    def final(self, ref_id):
        """The Transaction once it has reached its final state."""

        def settled():
            data = self.call(STATUS, ref_id=ref_id).json().get("data")
            return data if data and data["status"] != "pending" else None

        return eventually(settled, within=20)

    def balance(self):
        """The balance from the wire."""
        return data_of(self.call("/v1/balance"))["balance"]

    def products(self, **filters):
        """The product list, by code."""
        listed = data_of(self.call("/v1/products", **filters))["products"]
        return {product["product_code"]: product for product in listed}

    def movements(self, ref_id):
        """Kind and amount of every movement of the balance for a ref_id, oldest first."""
        return [(row["kind"], row["amount"]) for row in self.control("ledger", ref_id=ref_id)["mutations"]]

    def not_charged(self, ref_id):
        """Whether the status endpoint knows nothing of a ref_id and the balance never moved for it."""
        return (self.movements(ref_id), error_of(self.call(STATUS, ref_id=ref_id))) == ([], NOT_FOUND)

    def settle(self, ref_id, status, **fields):
        """Settle a pending transaction, or complete a pending inquiry ("valid")."""
        self.control("settle", ref_id=ref_id, status=status, **fields)

    def transaction(self, ref_id):
        """The row of a ref_id in the control API."""
        [row] = self.control("transactions", ref_id=ref_id)["transactions"]
        return row

    def deliveries(self, ref_id):
        """The callbacks queued for a ref_id, oldest first."""
        return self.control("deliveries", ref_id=ref_id)["deliveries"]
