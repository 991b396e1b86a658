"""Where what is: the wire under /v1/, the control API under /control/, the dashboard at /."""

from django.urls import path, re_path

from sandbox import control
from sandbox.api import wire

urlpatterns = [
    re_path(r"^v1/", wire.serve),
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
