"""The tables of the catalogue and of the orders."""

from purchases.models.catalogue import Brand, CatalogueSync, Category, PriceChange, Product
from purchases.models.customers import Customer, SavedNumber
from purchases.models.orders import Incident, Order, OrderEvent
from purchases.models.receipts import ReceiptPrint

__all__ = [
    "Brand",
    "CatalogueSync",
    "Category",
    "Customer",
    "Incident",
    "Order",
    "OrderEvent",
    "PriceChange",
    "Product",
    "ReceiptPrint",
    "SavedNumber",
]
