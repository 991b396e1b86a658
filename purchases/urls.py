"""The addresses of the orders and of their receipts."""

from django.urls import path

from purchases.views import bulk, notes, order, orders, receipts, saved

urlpatterns = [
    path("orders/", orders.order_list, name="order_list"),
    path("orders/live/", orders.order_list_live, name="order_list_live"),
    path("orders/sums/", orders.order_sums, name="order_sums"),
    path("orders/file/", orders.order_file, name="order_file"),
    path("orders/file/whole/", orders.order_file_whole, name="order_file_whole"),
    path("orders/columns/", orders.order_columns, name="order_columns"),
    path("orders/bulk/", bulk.order_bulk, name="order_bulk"),
    path("orders/views/", saved.order_views, name="order_views"),
    path("orders/views/save/", saved.order_view_save, name="order_view_save"),
    path("orders/views/<int:pk>/delete/", saved.order_view_delete, name="order_view_delete"),
    path("orders/sheets/<uuid:sheet>/", receipts.sheet_print, name="receipt_sheet"),
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
