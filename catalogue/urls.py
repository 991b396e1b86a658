"""The addresses of the catalogue."""

from django.urls import path

from catalogue.views import kinds, prices, products

urlpatterns = [
    path("", products.catalogue, name="catalogue"),
    path("price-changes/", products.price_changes, name="price_changes"),
    path("prices/", prices.prices, name="prices"),
    path("kinds/", kinds.number_kinds, name="kind_list"),
    path("kinds/<str:key>/", kinds.number_kind, name="kind_edit"),
    path("prices/rule/", prices.price_rule, name="price_rule"),
]
