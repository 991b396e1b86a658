"""The Merkle tree of RFC 6962: hashes of leaves and nodes, the root of any size, and proofs. No database, no settings.

`Node` gives the hash of a whole subtree: `node(level, number)` stands above the leaves from `number << level` on.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

HASH_SIZE = 32
Node: TypeAlias = Callable[[int, int], bytes]


def leaf_hash(content: bytes) -> bytes:
    return hashlib.sha256(b"\0" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node above two others."""
    return hashlib.sha256(b"\1" + left + right).digest()


def folded(hashes: Sequence[bytes]) -> bytes:
    """The hash above 1, 2, 4, 8, … hashes."""
    level = list(hashes)
    while len(level) > 1:
        level = [node_hash(level[place], level[place + 1]) for place in range(0, len(level), 2)]
    return level[0]


def root(size: int, node: Node) -> bytes:
    """The root of the tree with the first `size` leaves."""
    return _above(0, size, node) if size else hashlib.sha256(b"").digest()


def inclusion(place: int, size: int, node: Node) -> list[bytes]:
    """The proof that the tree of `size` leaves has the one at `place`: its siblings, from the leaf upwards."""
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _left(high - low)
        if place < middle:
            path.append(_above(middle, high, node))
            high = middle
        else:
            path.append(_above(low, middle, node))
            low = middle
    return path[::-1]


def _left(count: int) -> int:
    """The greatest power of two below `count`."""
    return 1 << (count - 1).bit_length() - 1


def _above(low: int, high: int, node: Node) -> bytes:
    count = high - low
    if not count & count - 1:
        level = count.bit_length() - 1
        return node(level, low >> level)
    middle = low + _left(count)
    return node_hash(_above(low, middle, node), _above(middle, high, node))
