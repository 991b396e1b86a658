"""The addresses of the catalogue and of the orders."""

from django.urls import path

from purchases import views_buy, views_catalogue, views_orders

urlpatterns = [
    path("products/", views_catalogue.catalogue, name="catalogue"),
    path("products/<str:code>/buy/", views_buy.product_buy, name="product_buy"),
    path("products/<str:code>/recognise/", views_buy.recognise, name="recognise"),
    path("orders/", views_orders.order_list, name="order_list"),
    path("orders/live/", views_orders.order_list_live, name="order_list_live"),
    path("orders/<str:ref_id>/", views_orders.order_detail, name="order_detail"),
    path("orders/<str:ref_id>/live/", views_orders.order_live, name="order_live"),
    path("orders/<str:ref_id>/incidents/<int:pk>/close/", views_orders.incident_close, name="incident_close"),
    path("orders/<str:ref_id>/<str:action>/", views_orders.order_act, name="order_act"),
]
