"""The addresses of the workbench. They come before those of orders: the full history is a page of an order."""

from django.urls import path

from workbench.views import events, exchanges, story, verifying

urlpatterns = [
    path("exchanges/", exchanges.exchange_list, name="exchange_list"),
    path("exchanges/errors/", exchanges.error_list, name="error_list"),
    path("exchanges/<int:pk>/", exchanges.exchange_detail, name="exchange_detail"),
    path("audit/", events.audit_list, name="audit_list"),
    path("audit/csv/", events.audit_csv, name="audit_csv"),
    path("audit/xlsx/", events.audit_xlsx, name="audit_xlsx"),
    path("audit/whole/", events.audit_whole, name="audit_whole"),
    path("audit/verify/", verifying.audit_verify, name="audit_verify"),
    path("orders/<str:ref_id>/story/", story.order_story, name="order_story"),
    path("orders/<str:ref_id>/story.json", story.order_story_file, name="order_story_file"),
    path("orders/<str:ref_id>/story/whole/", story.order_story_whole, name="order_story_whole"),
]
