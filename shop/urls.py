"""The addresses of the shop's policies and branches."""

from django.urls import path

from shop import views

urlpatterns = [
    path("shop/policies/", views.policies_page, name="policies"),
    path("shop/branches/", views.branch_list, name="shop_branches"),
    path("shop/branches/<int:pk>/", views.branch_detail, name="shop_branch"),
    path("shop/branches/<int:pk>/close/", views.branch_close, name="shop_branch_close"),
]
