"""The addresses of "Has it arrived?" and of complaints."""

from django.urls import include, path

from complaints import views
from complaints.lists import COMPLAINTS
from exports.list_views import addresses

urlpatterns = [
    path("arrived/", views.arrived, name="arrived"),
    path("arrived/<str:ref_id>/live/", views.arrived_live, name="arrived_live"),
    path("complaints/", views.complaint_list, name="complaint_list"),
    path("complaints/", include(addresses(COMPLAINTS))),
    path("complaints/<str:ref_id>/open/", views.complaint_open, name="complaint_open"),
    path("complaints/<int:pk>/step/", views.complaint_step, name="complaint_step"),
]
