"""What the conformance tests say often."""

from typing import Any

import requests

from tests.sandbox_process import SandboxProcess, eventually

PHONE = "081234567890"
PRODUCT = "TSEL10"
BILL = "PDAMBOGOR"


def error_of(response: requests.Response) -> tuple[int, str]:
    """HTTP status and error_code of an error envelope."""
    return response.status_code, response.json()["error_code"]


def buy(
    sandbox: SandboxProcess, ref_id: str, *, destination: str = PHONE, product_code: str = PRODUCT, **fields: Any
) -> requests.Response:
    """Create a purchase; a Telkomsel 10.000 unless told otherwise."""
    return sandbox.call(
        "/v1/transaction/create", ref_id=ref_id, product_code=product_code, destination=destination, **fields
    )


def check_bill(
    sandbox: SandboxProcess, ref_id: str, *, destination: str = "7001234", product_code: str = BILL
) -> requests.Response:
    """Check a water bill."""
    return sandbox.call("/v1/bill/inquiry", ref_id=ref_id, product_code=product_code, destination=destination)


def pay(sandbox: SandboxProcess, ref_id: str, **fields: Any) -> requests.Response:
    """Pay a checked bill."""
    return sandbox.call("/v1/bill/pay", ref_id=ref_id, **fields)


def status(sandbox: SandboxProcess, ref_id: str) -> dict[str, Any]:
    """The Transaction as the status endpoint tells it."""
    data: dict[str, Any] = sandbox.call("/v1/transaction/status", ref_id=ref_id).json()["data"]
    return data


def final(sandbox: SandboxProcess, ref_id: str, *, within: float = 10) -> dict[str, Any]:
    """The Transaction once it has reached its final state."""

    def settled() -> dict[str, Any] | None:
        data = sandbox.call("/v1/transaction/status", ref_id=ref_id).json().get("data")
        return data if data and data["status"] != "pending" else None

    result = eventually(settled, within=within)
    assert result is not None
    return result


def balance(sandbox: SandboxProcess) -> int:
    """The balance as the wire tells it, in rupiah."""
    return int(sandbox.call("/v1/balance").json()["data"]["balance"])


def movements(sandbox: SandboxProcess, ref_id: str) -> list[tuple[str, int]]:
    """Kind and amount of every movement of the balance for a ref_id, oldest first."""
    return [(row["kind"], row["amount"]) for row in sandbox.control("ledger", ref_id=ref_id)["mutations"]]
