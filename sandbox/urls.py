"""Addresses: the wire under /v1/, the control API under /control/, the dashboard at /."""

from django.urls import path, re_path

from sandbox import views
from sandbox.api import control, wire

urlpatterns = [
    re_path(r"^v1/", wire.serve),
    path("", views.overview, name="account"),
    path("transactions", views.rows, {"name": "transactions"}, name="transactions"),
    path("bill-checks", views.rows, {"name": "inquiries"}, name="inquiries"),
    path("balance", views.rows, {"name": "mutations"}, name="mutations"),
    path("requests", views.rows, {"name": "requests"}, name="requests"),
    path("callbacks", views.rows, {"name": "deliveries"}, name="deliveries"),
    path("products", views.rows, {"name": "products"}, name="products"),
    path("magic", views.magic, name="magic"),
    path("account/credentials", views.regenerate, name="regenerate"),
    path("account/switch", views.switch, name="switch"),
    path("account/addresses", views.set_addresses, name="set_addresses"),
    path("account/callback", views.set_callback, name="set_callback"),
    path("account/top-up", views.top_up, name="top_up"),
    path("account/spend", views.spend, name="spend"),
    path("products/<str:product_code>", views.set_product, name="set_product"),
    path("transactions/<str:ref_id>/settle", views.settle, name="settle"),
    path("bill-checks/<str:ref_id>/complete", views.complete, name="complete"),
    path("callbacks/<uuid:delivery_id>/resend", views.resend, name="resend"),
    path("control/ledger", control.ledger_view),
    path("control/requests", control.requests_view),
    path("control/transactions", control.transactions_view),
    path("control/deliveries", control.deliveries_view),
    path("control/account", control.account_view),
    path("control/settle", control.settle_view),
    path("control/resend", control.resend_view),
    path("control/topup", control.topup_view),
    path("control/product", control.product_view),
    path("control/time", control.time_view),
    path("control/reset", control.reset_view),
]
