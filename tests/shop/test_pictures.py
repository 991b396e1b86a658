"""The content alone decides whether a file is a logo: it is a whole picture with nothing after it."""

import pytest

from shop.errors import LogoRefused
from shop.models import MOST_LOGO_BYTES
from shop.pictures import read_picture
from tests.shop.helpers import SCAN, chunk, jpeg, png, webp

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
# Parts of a JPEG: two segments of texts, and the data of a scan with a stuffed byte and a restart marker.
BESIDE = b"\xff\xe1\x00\x0fExif\0\0at home\xff\xfe\x00\x09at home"
DATA = b"\x11\xff\x00\xff\xd0\x22"


def test_a_picture_is_known_by_its_content():
    for content, content_type in (
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (webp(b"VP8X"), "image/webp"),
        (webp(b"VP8L"), "image/webp"),
        (webp(b"VP8 "), "image/webp"),
    ):
        picture = read_picture(content)

        assert (picture.content_type, picture.width, picture.height) == (content_type, 120, 40)


def refusal(content: bytes) -> str:
    with pytest.raises(LogoRefused) as refused:
        read_picture(content)
    return refused.value.reason


def test_what_is_no_whole_picture_or_of_no_size_to_print_is_refused():
    for content in (
        b"",
        SVG,
        b"GIF89a" + b"\0" * 40,
        b"\x89PNG\r\n\x1a\n" + SVG,
        png() + SVG,
        png()[:-4],
        png().replace(b"IDAT", b"IDAX"),
        jpeg() + SVG,
        jpeg() + SVG + b"\xff\xd9",
        jpeg(data=b"\x11\xff\x00\x22")[:-2],
        jpeg()[:-2],
        jpeg()[:12] + b"\xff\xd9",
        webp() + SVG,
        webp()[:-1],
        webp(b"ICCP"),
    ):
        assert refusal(content) == "format", content
    for shape in ((15, 40), (40, 15), (2_001, 40), (40, 2_001)):
        assert refusal(jpeg(*shape)) == "size", shape


def test_what_is_said_beside_the_picture_is_left_out():
    texts = chunk(b"tEXt", b"Place\0at home") + chunk(b"eXIf", b"at home") + chunk(b"tIME", b"1234567")
    for with_texts, alone in (
        (png(more=texts), png()),
        (png(more=chunk(b"tRNS", b"\0\0")), png(more=chunk(b"tRNS", b"\0\0"))),
        (jpeg(more=BESIDE), jpeg()),
        (jpeg(data=DATA + BESIDE + SCAN + DATA + BESIDE), jpeg(data=DATA + SCAN + DATA)),
        (jpeg() + jpeg(more=BESIDE), jpeg()),
        (webp(more=b"EXIF\x07\0\0\0at home\0XMP \x08\0\0\0at  home", flags=0x1C), webp(flags=0x10)),
    ):
        assert read_picture(with_texts).content == alone


def test_256_kib_are_a_logo_and_a_byte_more_is_none():
    full = png(more=chunk(b"IDAT", b"x" * (MOST_LOGO_BYTES - len(png()) - 12)))

    assert len(read_picture(full).content) == MOST_LOGO_BYTES
    assert refusal(png(more=chunk(b"tEXt", b"x" * (MOST_LOGO_BYTES - len(png()) - 11)))) == "too_big"
