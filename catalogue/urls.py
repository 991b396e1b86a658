"""The addresses of the catalogue."""

from django.urls import path

from catalogue.views import kinds, price_list, prices, products

urlpatterns = [
    path("", products.catalogue, name="catalogue"),
    path("price-changes/", products.price_changes, name="price_changes"),
    path("prices/", prices.prices, name="prices"),
    path("price-list/", price_list.price_list, name="price_list"),
    path("price-list/link/", price_list.price_list_link, name="price_list_link"),
    path("kinds/", kinds.number_kinds, name="kind_list"),
    path("kinds/<str:key>/", kinds.number_kind, name="kind_edit"),
    path("prices/rule/", prices.price_rule, name="price_rule"),
]
