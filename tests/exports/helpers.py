"""Files of the worker in a test: requested on the page, written by the room's task, read as downloaded."""

import csv
import io
import zipfile
from typing import Any

from django.test import Client

from exports.models import Export
from exports.services import content_of
from exports.tasks import write_list
from ledger.tasks import write_statement


def ask(client: Client, file_format: str, query: str = "") -> Any:
    """Press the button; the answer leads to the files."""
    return client.post(f"/balance/statement/{file_format}/?{query}")


def made(client: Client, file_format: str, query: str = "") -> bytes:
    """Ask for a statement, let the worker write it, download it."""
    ask(client, file_format, query)
    export = Export.objects.first()
    write_statement(export.pk)
    return b"".join(client.get(f"/files/{export.pk}/").streaming_content)


def by_the_worker(client: Client, name: str, query: str, file_format: str) -> bytes:
    """Ask for a file of this list, let the worker make it, read it."""
    client.post(f"/{name}/file/?{query}&format={file_format}")
    export = Export.objects.first()
    write_list(export.pk)
    return b"".join(content_of(export))


def csv_rows(content: bytes) -> list[dict[str, str]]:
    """The rows of a CSV file by their headings."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def sheet_text(content: bytes) -> str:
    """The whole content of a workbook, as XML."""
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        return "".join(book.read(name).decode() for name in book.namelist() if name.endswith(".xml"))
