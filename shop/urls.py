"""The shop's settings, and its logo."""

from django.urls import path

from shop import views

urlpatterns = [
    path("shop/", views.shop_settings, name="shop_settings"),
    path("shop/logo/<str:digest>/", views.shop_logo, name="shop_logo"),
]
