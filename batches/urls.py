"""The addresses of batches."""

from django.urls import include, path

from batches import views
from batches.lists import ROWS
from exports.list_views import addresses

urlpatterns = [
    path("", views.batch_list, name="batch_list"),
    path("new/", views.batch_add, name="batch_add"),
    path("due/", views.batch_due, name="batch_due"),
    path("rows/", views.batch_row_list, name="batch_row_list"),
    path("rows/", include(addresses(ROWS))),
    path("<int:pk>/", views.batch_detail, name="batch_detail"),
    path("<int:pk>/live/", views.batch_live, name="batch_live"),
    path("<int:pk>/release/", views.batch_release, name="batch_release"),
    path("<int:pk>/ask/", views.batch_ask, name="batch_ask"),
    path("<int:pk>/step/", views.batch_step, name="batch_step"),
    path("<int:pk>/again/", views.batch_again, name="batch_again"),
    path("<int:pk>/mend/", views.batch_mend, name="batch_mend"),
    path("<int:pk>/rows/<int:line>/", views.batch_row, name="batch_row"),
]
