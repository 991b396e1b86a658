"""The addresses of the orders and of their receipts."""

from django.urls import include, path

from exports.list_views import addresses
from purchases.lists import ORDERS
from purchases.views import bulk, many_receipts, notes, order, orders, payment_receipts, receipts

urlpatterns = [
    path("orders/", orders.order_list, name="order_list"),
    path("orders/", include(addresses(ORDERS))),
    path("orders/live/", orders.order_list_live, name="order_list_live"),
    path("orders/products/", orders.order_products, name="order_products"),
    path("orders/bulk/", bulk.order_bulk, name="order_bulk"),
    path("orders/receipts/", many_receipts.order_receipts, name="order_receipts"),
    path("orders/prints/", many_receipts.prints, name="receipt_prints"),
    path("orders/sheets/<uuid:sheet>/", receipts.sheet_print, name="receipt_sheet"),
    path("credit/payments/<int:pk>/receipt/", payment_receipts.credit_receipt, name="credit_receipt"),
    path("orders/<str:ref_id>/", order.order_detail, name="order_detail"),
    path("orders/<str:ref_id>/live/", order.order_live, name="order_live"),
    path("orders/<str:ref_id>/panel/", order.order_panel, name="order_panel"),
    path("orders/<str:ref_id>/notes/", notes.order_note, name="order_note"),
    path("orders/<str:ref_id>/number/", order.order_number, name="order_number"),
    path("orders/<str:ref_id>/incidents/<int:pk>/close/", order.incident_close, name="incident_close"),
    path("orders/<str:ref_id>/receipt/", receipts.order_receipt, name="order_receipt"),
    path("orders/<str:ref_id>/receipt/<int:number>/", receipts.receipt_print, name="order_receipt_print"),
    path("orders/<str:ref_id>/<str:action>/", order.order_act, name="order_act"),
]
