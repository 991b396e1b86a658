"""The addresses of the shop's policies and branches."""

from django.urls import path

from shop import branch_views, views

urlpatterns = [
    path("shop/policies/", views.policies_page, name="policies"),
    path("shop/branches/", branch_views.branch_list, name="shop_branches"),
    path("shop/branches/<int:pk>/", branch_views.branch_detail, name="shop_branch"),
    path("shop/branches/<int:pk>/close/", branch_views.branch_close, name="shop_branch_close"),
]
