"""The tables of the orders."""

from purchases.models.orders import Incident, Order, OrderEvent
from purchases.models.receipts import ReceiptPrint
from purchases.models.verdicts import GivenBack, Verdict
