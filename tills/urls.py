"""The addresses of the till's lock screen, the own PIN, and the shop's tills."""

from django.urls import path

from tills.views import here, own, tills

urlpatterns = [
    path("till/", here.lock_screen, name="till"),
    path("till/enrol/", here.till_enrol, name="till_enrol"),
    path("till/lock/", here.till_lock, name="till_lock"),
    path("till/printer/", tills.printer, name="till_printer"),
    path("me/pin/", own.own_pin, name="own_pin"),
    path("tills/", tills.till_list, name="till_list"),
    path("tills/add/", tills.till_add, name="till_add"),
    path("tills/<int:pk>/", tills.till_detail, name="till_detail"),
    path("tills/<int:pk>/off/", tills.till_switch_off, name="till_switch_off"),
    path("tills/<int:pk>/unlock/", tills.till_unlock, name="till_unlock"),
    path("tills/<int:pk>/printer/", tills.printer_set, name="till_printer_set"),
]
