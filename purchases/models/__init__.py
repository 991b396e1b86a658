"""The tables of the orders."""

from purchases.models.lost import Lack, LostOrder
from purchases.models.orders import Order, late_since, may_be_charged
from purchases.models.receipts import ReceiptPrint
from purchases.models.timeline import Incident, OrderEvent, OrderNote, Tag
from purchases.models.verdicts import Verdict
