"""The addresses of the customers and their numbers."""

from django.urls import include, path

from customers import views
from customers.lists import CUSTOMERS
from exports.list_views import addresses

urlpatterns = [
    path("customers/", views.customer_list, name="customer_list"),
    path("customers/", include(addresses(CUSTOMERS))),
    path("customers/add/", views.customer_add, name="customer_add"),
    path("customers/import/", views.customer_import, name="customer_import"),
    path("customers/save/", views.number_save, name="number_save"),
    path("customers/<int:pk>/", views.customer_detail, name="customer_detail"),
    path("customers/<int:pk>/edit/", views.customer_edit, name="customer_edit"),
    path("customers/<int:pk>/delete/", views.customer_delete, name="customer_delete"),
    path("customers/<int:pk>/numbers/", views.number_add, name="number_add"),
    path("customers/numbers/<int:pk>/edit/", views.number_edit, name="number_edit"),
    path("customers/numbers/<int:pk>/delete/", views.number_delete, name="number_delete"),
]
