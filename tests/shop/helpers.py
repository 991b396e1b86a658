"""Pictures made by hand, and typed settings of a shop."""

import html
import re
import struct
import zlib

from django.core.files.uploadedfile import SimpleUploadedFile

TYPED = {
    "name": "Toko Maju",
    "address": "Jl. Merdeka 1\nBandung",
    "phone": "0812 3456 7890",
    "footer": "Barang yang dibeli\ntidak dapat ditukar",
    "paper": "80",
    "language": "",
}


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int = 120, height: int = 40, *, more: bytes = b"") -> bytes:
    """A black picture; `more`: further chunks before the end."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress((b"\0" + b"\0" * width) * height))
    return b"\x89PNG\r\n\x1a\n" + head + data + more + chunk(b"IEND", b"")


SCAN = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x00"


def jpeg(width: int = 120, height: int = 40, *, more: bytes = b"", data: bytes = b"") -> bytes:
    """The segments of a JPEG; their content does not matter here.

    `more`: further segments before the frame. `data`: the data of the first scan and of all parts before the end.
    """
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    head = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    return head + more + frame + SCAN + data + b"\xff\xd9"


def webp(kind: bytes = b"VP8X", width: int = 120, height: int = 40, *, more: bytes = b"", flags: int = 0) -> bytes:
    """A WebP with its first chunk and its `flags`; `more`: further chunks."""
    if kind == b"VP8X":
        body = bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + ((width - 1) | (height - 1) << 14).to_bytes(4, "little") + b"\x00"
    else:
        body = b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    riff = b"WEBP" + kind + struct.pack("<I", len(body)) + body + b"\x00" * (len(body) % 2) + more
    return b"RIFF" + struct.pack("<I", len(riff)) + riff


def file_of(content: bytes, name: str = "logo.png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def save(browser, **typed):
    """Save the settings with a fresh code; other values are those of `TYPED`."""
    return browser.confirm("/shop/", {**TYPED, "save": "1", **typed}, follow=True)


def papers_of(answer) -> list[str]:
    """The papers of a page."""
    return re.findall(r'<article class="struk.*?</article>', answer.content.decode(), re.DOTALL)


def text_of(html: str) -> str:
    """The visible text of the page, in one line."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def message_of(page) -> str:
    """The text for a message; "" without one."""
    found = re.search(r'<textarea[^>]*id="message-text"[^>]*>(.*?)</textarea>', page.content.decode(), re.DOTALL)
    return html.unescape(found[1]) if found else ""
