"""The addresses of the shop's policies."""

from django.urls import path

from shop import views

urlpatterns = [path("shop/policies/", views.policies_page, name="policies")]
