"""Where what is: the wire under /v1/, the control API under /control/, the dashboard at /."""

from django.urls import path, re_path

from sandbox import control, dashboard
from sandbox.api import wire

urlpatterns = [
    re_path(r"^v1/", wire.serve),
    path("", dashboard.account, name="account"),
    path("transactions", dashboard.transactions, name="transactions"),
    path("bill-checks", dashboard.inquiries, name="inquiries"),
    path("balance", dashboard.mutations, name="mutations"),
    path("requests", dashboard.received, name="requests"),
    path("callbacks", dashboard.deliveries, name="deliveries"),
    path("products", dashboard.products, name="products"),
    path("magic", dashboard.magic, name="magic"),
    path("account/credentials", dashboard.regenerate, name="regenerate"),
    path("account/switch", dashboard.switch, name="switch"),
    path("account/addresses", dashboard.set_addresses, name="set_addresses"),
    path("account/callback", dashboard.set_callback, name="set_callback"),
    path("account/top-up", dashboard.top_up, name="top_up"),
    path("account/spend", dashboard.spend, name="spend"),
    path("products/<str:product_code>", dashboard.set_product, name="set_product"),
    path("transactions/<str:ref_id>/settle", dashboard.settle, name="settle"),
    path("bill-checks/<str:ref_id>/complete", dashboard.complete, name="complete"),
    path("callbacks/<uuid:delivery_id>/resend", dashboard.resend, name="resend"),
    path("control/ledger", control.ledger_view),
    path("control/requests", control.requests_view),
    path("control/transactions", control.transactions_view),
    path("control/deliveries", control.deliveries_view),
    path("control/account", control.account_view),
    path("control/settle", control.settle_view),
    path("control/resend", control.resend_view),
    path("control/topup", control.topup_view),
    path("control/product", control.product_view),
    path("control/reset", control.reset_view),
]
