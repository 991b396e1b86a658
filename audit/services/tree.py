"""The tree as it is stored: tiles of 256 hashes."""

from collections.abc import Iterable, Iterator

from audit import merkle
from audit.models import Tile
from audit.services.sources import KEY_SIZE, Key

WIDTH_BITS = 8
WIDTH = 1 << WIDTH_BITS
# How many tiles one query reads
_TILES_AT_ONCE = 64
# How many tiles are kept in memory, 8 kB each
_KEPT_TILES = 1_000


class Tree:
    """Reads hashes of the stored tree; keeps the tiles that it has read."""

    def __init__(self) -> None:
        self._tiles: dict[tuple[int, int], bytes] = {}

    def node(self, level: int, number: int) -> bytes:
        """The hash above the leaves from `number << level` on; they are all there."""
        height, within = divmod(level, WIDTH_BITS)
        first = (number << within) % WIDTH
        hashes = self._tile(height, number >> (WIDTH_BITS - within))
        size = merkle.HASH_SIZE
        return merkle.folded([hashes[at * size : at * size + size] for at in range(first, first + (1 << within))])

    def whole(self, level: int, number: int) -> bytes:
        """The hash above a whole tile, computed from what it holds."""
        hashes, size = self._tile(level, number), merkle.HASH_SIZE
        return merkle.folded([hashes[at : at + size] for at in range(0, WIDTH * size, size)])

    def root(self, size: int) -> bytes:
        """The root of the first `size` leaves."""
        return merkle.root(size, self.node)

    def _tile(self, level: int, number: int) -> bytes:
        if (level, number) not in self._tiles:
            if len(self._tiles) > _KEPT_TILES:
                self._tiles.clear()
            tile = Tile.objects.filter(level=level, number=number).values_list("hashes", flat=True).first()
            self._tiles[level, number] = bytes(tile or b"")
        return self._tiles[level, number]


def append(size: int, leaves: Iterable[tuple[Key, bytes]]) -> int:
    """Append leaves, each a key and its hash, to the tree of `size`; return the new size. The caller holds the lock."""
    number, filled = divmod(size, WIDTH)
    hashes, keys = bytearray(), bytearray()
    tile = Tile.objects.filter(level=0, number=number).first() if filled else None
    if tile:
        hashes, keys = bytearray(tile.hashes), bytearray(tile.keys)
    for key, leaf in leaves:
        hashes += leaf
        keys += key.packed()
        size += 1
        if size % WIDTH == 0:
            _write(0, number, hashes, keys)
            _append_above(1, number, hashes)
            number, hashes, keys = number + 1, bytearray(), bytearray()
    if hashes:
        _write(0, number, hashes, keys)
    return size


def leaves(first: int, end: int) -> Iterator[tuple[int, Key, bytes]]:
    """The leaves from `first` up to `end` that the tiles hold: place, key, hash."""
    for number, hashes, packed in _tiles_of_leaves(first // WIDTH, -(-end // WIDTH)):
        begin, size = number * WIDTH, merkle.HASH_SIZE
        there = min(len(hashes) // size, len(packed) // KEY_SIZE)
        keys = Key.unpacked_all(packed[: there * KEY_SIZE])
        for at in range(max(first - begin, 0), min(end - begin, there)):
            yield begin + at, keys[at], hashes[at * size : at * size + size]


def _tiles_of_leaves(first: int, end: int) -> Iterator[tuple[int, bytes, bytes]]:
    """Number, hashes and keys of each tile of leaves, read in groups. Raises `Tile.DoesNotExist`."""
    for begin in range(first, end, _TILES_AT_ONCE):
        numbers = range(begin, min(begin + _TILES_AT_ONCE, end))
        rows = Tile.objects.filter(level=0, number__range=(numbers[0], numbers[-1])).values_list(
            "number", "hashes", "keys"
        )
        tiles = {number: (bytes(hashes), bytes(keys)) for number, hashes, keys in rows}
        for number in numbers:
            if number not in tiles:
                raise Tile.DoesNotExist
            yield number, *tiles[number]


def place_of(key: Key) -> int | None:
    """The place of a row's leaf; None when it is not sealed."""
    packed = key.packed()
    tile = Tile.objects.filter(level=0, first_key__lte=packed).order_by("-first_key").first()
    if tile is None:
        return None
    keys = bytes(tile.keys)
    place = next((at for at in range(0, len(keys), KEY_SIZE) if keys[at : at + KEY_SIZE] == packed), None)
    return None if place is None else int(tile.number) * WIDTH + place // KEY_SIZE


def _append_above(level: int, number: int, below: bytes | bytearray) -> None:
    """Add a whole tile to the level above, as one hash."""
    size = merkle.HASH_SIZE
    whole = merkle.folded([bytes(below[at : at + size]) for at in range(0, len(below), size)])
    above, at = divmod(number, WIDTH)
    tile = Tile.objects.filter(level=level, number=above).first() if at else None
    hashes = bytearray(tile.hashes if tile else b"") + whole
    _write(level, above, hashes)
    if at == WIDTH - 1:
        _append_above(level + 1, above, hashes)


def _write(level: int, number: int, hashes: bytearray, keys: bytearray | None = None) -> None:
    facts = {"hashes": bytes(hashes), "keys": bytes(keys or b"")}
    if not Tile.objects.filter(level=level, number=number).update(**facts):
        first = bytes(keys[:KEY_SIZE]) if keys else None
        Tile.objects.create(level=level, number=number, first_key=first, **facts)
