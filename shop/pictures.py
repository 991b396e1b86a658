"""Reads the kind of a picture from its bytes alone: a file's name and its declared type prove nothing.

Each picture is read to its end, so that no other chunk or segment stays hidden. Data other than the picture (place and
time of a photo, texts, thumbnails) is removed: everybody sees a logo.
"""

import hashlib
import re
import struct
import zlib
from dataclasses import dataclass

from shop.errors import LogoRefused
from shop.models import MOST_LOGO_BYTES, LogoType

LEAST_PIXELS, MOST_PIXELS = 16, 2_000

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
# In a JPEG: the segments that hold its size, and those that are only a marker.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE = frozenset([0x01, *range(0xD0, 0xD8)])
# The marker after the data of a scan. The data itself contains only these markers: stuffed, padding and restart.
_AFTER_SCAN = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
# The parts of the picture itself: in a PNG its data, transparency and colours; in a JPEG all but comments and the
# segments of applications, except APP0 and APP14, which define its colours.
_OF_PNG = frozenset([b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB"])
_BESIDE_JPEG = frozenset([0xFE, *range(0xE1, 0xF0)]) - {0xEE}
_BESIDE_WEBP = frozenset([b"EXIF", b"XMP "])
_SAYS_BESIDE = 0x0C  # the flags of a WebP that has them


# The type, width, height, and the bytes of the picture alone; None when it is not a picture of this type.
_Found = tuple[LogoType, int, int, bytes] | None


@dataclass(frozen=True)
class Picture:
    """A picture that may be a logo; sizes in pixels."""

    content: bytes
    content_type: LogoType
    width: int
    height: int

    @property
    def digest(self) -> str:
        """SHA-256 of the content, which names it."""
        return hashlib.sha256(self.content).hexdigest()


def read_picture(content: bytes) -> Picture:
    """The picture in these bytes. Raises `LogoRefused`."""
    if len(content) > MOST_LOGO_BYTES:
        raise LogoRefused("too_big")
    try:
        picture = next(filter(None, (read(content) for read in (_png, _jpeg, _webp))), None)
    except (struct.error, IndexError):  # the file ends too early
        picture = None
    if picture is None:
        raise LogoRefused("format")
    content_type, width, height, alone = picture
    if not all(LEAST_PIXELS <= pixels <= MOST_PIXELS for pixels in (width, height)):
        raise LogoRefused("size")
    return Picture(alone, content_type, width, height)


def _png(content: bytes) -> _Found:
    """Read a PNG that ends with its last chunk, and whose chunks all match their checksums."""
    if not content.startswith(_PNG):
        return None
    at, size, has_data, alone = len(_PNG), None, False, bytearray(_PNG)
    while True:
        length, name = struct.unpack_from(">I4s", content, at)
        end = at + 8 + length
        (checksum,) = struct.unpack_from(">I", content, end)
        if zlib.crc32(content[at + 4 : end]) != checksum:
            return None
        if size is None:
            if (name, length) != (b"IHDR", 13):
                return None
            width, height = struct.unpack_from(">II", content, at + 8)
            size = width, height
        has_data = has_data or name == b"IDAT"
        if name in _OF_PNG:
            alone += content[at : end + 4]
        at = end + 4
        if name == b"IEND":
            return (LogoType.PNG, *size, bytes(alone)) if has_data and at == len(content) else None


def _jpeg(content: bytes) -> _Found:
    """Read a JPEG with a scan, up to its end marker; another picture behind it, as phones store one, is left out."""
    if not content.startswith(_JPEG):
        return None
    at, size, has_scan, alone = 2, None, False, bytearray(content[:2])
    while True:
        if content[at] != 0xFF:
            return None
        marker = content[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        if marker == 0xD9:
            end = at + 2
            is_whole = has_scan and (end == len(content) or content.startswith(_JPEG, end))
            return (LogoType.JPEG, *size, bytes(alone + content[at:end])) if size and is_whole else None
        if marker in _BARE:
            at += 2
            continue
        (length,) = struct.unpack_from(">H", content, at + 2)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            size = width, height
        end = at + 2 + length
        if marker == 0xDA:
            after = _AFTER_SCAN.search(content, end)
            if after is None:
                return None
            has_scan, end = True, after.start()
        if marker not in _BESIDE_JPEG:
            alone += content[at:end]
        at = end


def _webp(content: bytes) -> _Found:
    """Read a WebP whose chunks fill the file."""
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return None
    (length,) = struct.unpack_from("<I", content, 4)
    if length + 8 != len(content):
        return None
    name, size = content[12:16], None
    if name == b"VP8X":
        size = (1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little"))
    elif name == b"VP8L" and content[20] == 0x2F:
        bits = int.from_bytes(content[21:25], "little")
        size = (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    elif name == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        size = (width & 0x3FFF, height & 0x3FFF)
    at, chunks = 12, bytearray()
    while at < len(content):
        chunk_name, chunk = struct.unpack_from("<4sI", content, at)
        end = at + 8 + chunk + chunk % 2
        if chunk_name not in _BESIDE_WEBP:
            chunks += content[at:end]
        at = end
    if not size or at != len(content):
        return None
    if name == b"VP8X":
        chunks[8] &= ~_SAYS_BESIDE
    return LogoType.WEBP, *size, struct.pack("<4sI4s", b"RIFF", len(chunks) + 4, b"WEBP") + bytes(chunks)
