"""The addresses of the catalogue."""

from django.urls import path

from catalogue.views import prices, products

urlpatterns = [
    path("", products.catalogue, name="catalogue"),
    path("price-changes/", products.price_changes, name="price_changes"),
    path("prices/", prices.prices, name="prices"),
    path("prices/rule/", prices.price_rule, name="price_rule"),
]
