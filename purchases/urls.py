"""The addresses of the catalogue, of the orders with their receipts, and of the customers."""

from django.urls import path

from purchases import (
    views_buy,
    views_catalogue,
    views_customers,
    views_orders,
    views_receipts,
    views_reconciling,
)

urlpatterns = [
    path("products/", views_catalogue.catalogue, name="catalogue"),
    path("products/<str:code>/buy/", views_buy.product_buy, name="product_buy"),
    path("products/<str:code>/recognise/", views_buy.recognise, name="recognise"),
    path("products/<str:code>/numbers/", views_customers.number_suggest, name="number_suggest"),
    path("orders/", views_orders.order_list, name="order_list"),
    path("orders/live/", views_orders.order_list_live, name="order_list_live"),
    path("orders/<str:ref_id>/", views_orders.order_detail, name="order_detail"),
    path("orders/<str:ref_id>/live/", views_orders.order_live, name="order_live"),
    path("orders/<str:ref_id>/incidents/<int:pk>/close/", views_orders.incident_close, name="incident_close"),
    path("orders/<str:ref_id>/receipt/", views_receipts.order_receipt, name="order_receipt"),
    path("orders/<str:ref_id>/receipt/<int:number>/", views_receipts.receipt_print, name="order_receipt_print"),
    path("orders/<str:ref_id>/<str:action>/", views_orders.order_act, name="order_act"),
    path("balance/reconcile/", views_reconciling.balance_reconcile, name="balance_reconcile"),
    path("customers/", views_customers.customer_list, name="customer_list"),
    path("customers/add/", views_customers.customer_add, name="customer_add"),
    path("customers/save/", views_customers.number_save, name="number_save"),
    path("customers/<int:pk>/", views_customers.customer_detail, name="customer_detail"),
    path("customers/<int:pk>/edit/", views_customers.customer_edit, name="customer_edit"),
    path("customers/<int:pk>/delete/", views_customers.customer_delete, name="customer_delete"),
    path("customers/<int:pk>/numbers/", views_customers.number_add, name="number_add"),
    path("customers/numbers/<int:pk>/edit/", views_customers.number_edit, name="number_edit"),
    path("customers/numbers/<int:pk>/delete/", views_customers.number_delete, name="number_delete"),
]
