"""The yardstick itself: one DRF view that parses the JSON, checks nothing, and inserts one row by the ORM."""

import uuid
from typing import Any

from django.db import models
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class Row(models.Model):
    """A row as wide as a stored callback, in a table with the same indexes (made by the benchmark)."""

    received_at = models.DateTimeField(default=timezone.now)
    delivery_id = models.CharField(max_length=100)
    content_hash = models.CharField(max_length=64)
    event = models.CharField(max_length=60)
    ref_id = models.CharField(max_length=64)
    body = models.BinaryField()
    headers = models.JSONField()
    source_address = models.GenericIPAddressField(null=True)
    is_signed = models.BooleanField(default=True)
    repeats = models.IntegerField(default=0)
    state = models.CharField(max_length=10, default="received")
    processed_at = models.DateTimeField(null=True)
    result = models.CharField(max_length=300)
    next_try_at = models.DateTimeField(default=timezone.now)
    tries = models.IntegerField(default=0)
    fault = models.CharField(max_length=300)

    class Meta:
        app_label = "bare"
        managed = False
        db_table = "bare_row"

    def __str__(self) -> str:
        return self.ref_id


class Insert(APIView):
    """Stores each request."""

    def post(self, request: Request) -> Response:
        """200 when stored."""
        body = request._request.body
        content: Any = request.data
        Row._default_manager.create(
            delivery_id=request.headers.get("X-Delivery-Id", ""),
            content_hash=uuid.uuid4().hex,
            event=content["event"],
            ref_id=content["data"]["ref_id"],
            body=body,
            headers=dict(request.headers),
            source_address=request.META["REMOTE_ADDR"],
        )
        return Response({"received": True})


urlpatterns = [path("callbacks/upstream/", Insert.as_view())]
