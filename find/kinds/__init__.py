"""The kinds of results of "find anything", one file each. The roof adds the pages (`backoffice/find_pages.py`)."""

from django.utils.translation import gettext_lazy as _

from core.rights import Right
from find.kinds.acts import acts
from find.kinds.bills import bills
from find.kinds.branches import branches
from find.kinds.complaints import complaints
from find.kinds.customers import customers
from find.kinds.drawers import drawers
from find.kinds.kind import Kind
from find.kinds.orders import orders
from find.kinds.people import people
from find.kinds.prices import prices
from find.kinds.products import products

#: In the order of the page: `Enter` opens the first result.
ROWS = (
    Kind("do", _("Do"), (), acts),
    Kind("customers", _("Customers"), (Right.VIEW_CUSTOMERS,), customers, "customer_list"),
    Kind("orders", _("Orders"), (Right.VIEW_ORDERS,), orders, "order_list"),
    Kind("bills", _("Bills"), (Right.VIEW_BILLS,), bills, "bill_list"),
    Kind(
        "complaints",
        _("Complaints"),
        (Right.VIEW_COMPLAINTS, Right.VIEW_ORDERS),
        complaints,
        "complaint_list",
        "&state=all",  # also closed ones, as here
    ),
)
#: After the pages: a few letters that begin a page's name may stand in many people's names.
NAMES = (
    Kind("staff", _("Staff"), (Right.MANAGE_STAFF,), people, "staff_list"),
    Kind("branches", _("Branches"), (Right.VIEW_ORDERS, Right.VIEW_SHIFTS), branches),
    Kind("drawers", _("Drawers"), (Right.VIEW_SHIFTS,), drawers),
)
PRICES = Kind(
    "prices", _("Selling prices"), (Right.VIEW_PRODUCT, Right.VIEW_COST, Right.CHANGE_PRICES), prices, "prices"
)
PRODUCTS = Kind("products", _("Products"), (Right.VIEW_PRODUCT,), products, "catalogue")
