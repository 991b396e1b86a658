"""Verifies that nobody changed an audited row: rows against leaves, leaves against tree, tree against checkpoints.

The owner of the database can compute everything inside again, but not the copies outside (log, messages, file):
`outside` compares those.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models.functions import Least, Length

from audit import merkle
from audit.flaws import Flaw, Verification
from audit.models import Checkpoint, Sealing, Tile
from audit.services.live import live_flaws, number_flaws, trigger_flaws
from audit.services.publishing import is_signed, public_key, read_note
from audit.services.rules import rule_flaws
from audit.services.sealing import rows_in_order
from audit.services.sources import KEY_SIZE, Key, audited_tables
from audit.services.tree import WIDTH, Tree, leaves

# At most this many flaws inside the database are named: the first ones are enough. All flaws outside are named.
_NAMED = 20


def verify(*, recent: int | None = None, outside: Iterable[str] = (), key: bytes | None = None) -> Verification:
    """Compare everything, or only the `recent` newest leaves. `outside`: lines of a file of checkpoints.

    `key`: the public key of the signatures, by default our own. The shop may write meanwhile.
    """
    result = Verification()
    # in this order, so that what is sealed meanwhile is not a flaw
    newest = Checkpoint.objects.order_by("-size").values_list("size", flat=True).first() or 0
    state = Sealing.objects.first() or Sealing()
    first = 0 if recent is None else max(0, state.size - recent) // WIDTH * WIDTH
    result.flaws += trigger_flaws()
    cut = _cut_off(state, newest)
    if cut or state.size == 0:
        result.flaws += cut
    else:
        _verify_leaves(result, state, first)
        _verify_tree(result, state, first)
        _verify_checkpoints(result, newest, first, key or public_key())
    result.flaws += number_flaws()
    since = None if recent is None or cut else _first_txid(first)
    result.flaws += live_flaws(since=since) + rule_flaws(since=since)
    del result.flaws[_NAMED:]
    outside_flaws = _outside_flaws(result, outside, state.size, key or public_key())
    result.flaws += outside_flaws[:1] if cut else outside_flaws  # without some leaves every later row differs
    return result


def _cut_off(state: Sealing, newest: int) -> list[Flaw]:
    """Whether the tree is shorter than it was signed, or than its own record says: then nothing else is compared."""
    if max(newest, state.published) > state.size:
        detail = f"{state.size} leaves, and a checkpoint of {max(newest, state.published)} was made"
        return [Flaw("cut_off", detail=detail)]
    counts = Least(Length("hashes") / merkle.HASH_SIZE, Length("keys") / KEY_SIZE)
    there = dict(Tile.objects.filter(level=0).annotate(leaves=counts).values_list("number", "leaves"))
    for number in range(-(-state.size // WIDTH)):
        if there.get(number, 0) < min(WIDTH, state.size - number * WIDTH):
            gone = f"leaf {number * WIDTH + there.get(number, 0)} is gone"
            return [Flaw("cut_off", Tile._meta.db_table, number, gone)]
    last = _key_before(state.size)
    return [] if state.key == (last.packed().hex() if state.size else "") else [Flaw("cut_off", detail="the last key")]


def _first_txid(first: int) -> int:
    return next((key.txid for _, key, _ in leaves(first, first + 1)), 0) if Tile.objects.exists() else 0


def _verify_leaves(result: Verification, state: Sealing, first: int) -> None:
    """Compare rows and leaves, both in the order of their keys; name a missing or different row."""
    names = {table.number: table.name for table in audited_tables()}
    last = Key.unpacked(bytes.fromhex(state.key))
    before = _key_before(first)
    rows = rows_in_order(before, last)
    row = next(rows, None)
    for place, key, leaf in leaves(first, state.size):
        result.rows += 1
        table = names.get(key.source, "")
        if key <= before:
            result.flaws.append(Flaw("leaf_out_of_order", table, key.row, f"leaf {place}"))
            continue
        before = key
        while row and row[0] < key:
            result.flaws.append(Flaw("not_sealed", names[row[0].source], row[0].row))
            row = next(rows, None)
        if row and row[0] == key:
            if merkle.leaf_hash(row[1]) != leaf:
                result.flaws.append(Flaw("changed", table, key.row, f"leaf {place}"))
            row = next(rows, None)
        else:
            result.flaws.append(Flaw("deleted", table, key.row, f"leaf {place}"))
        if len(result.flaws) >= _NAMED:
            return
    if row:
        result.flaws.append(Flaw("not_sealed", names[row[0].source], row[0].row))


def _key_before(first: int) -> Key:
    return next((key for _, key, _ in leaves(first - 1, first)), Key(0, 0, 0)) if first else Key(0, 0, 0)


def _verify_tree(result: Verification, state: Sealing, first: int) -> None:
    """Check that each whole tile has in the level above the hash that follows from it."""
    tree, level, number, count = Tree(), 0, first // WIDTH, state.size // WIDTH
    while count:
        for tile_number in range(number, count):
            if tree.node(8 * (level + 1), tile_number) != tree.whole(level, tile_number):
                result.flaws.append(Flaw("tree", detail=f"tile {level}/{tile_number}"))
                return
        level, number, count = level + 1, number // WIDTH, count // WIDTH


def _verify_checkpoints(result: Verification, newest: int, first: int, key: bytes) -> None:
    tree = Tree()
    for checkpoint in Checkpoint.objects.filter(size__range=(first, newest)).iterator(chunk_size=500):
        result.checkpoints += 1
        name = f"checkpoint of {checkpoint.size} leaves"
        if tree.root(checkpoint.size) != bytes(checkpoint.root):
            result.flaws.append(Flaw("checkpoint", detail=name))
        elif read_note(checkpoint.note) != (checkpoint.size, bytes(checkpoint.root)):
            result.flaws.append(Flaw("checkpoint", detail=f"{name}: its note says something else"))
        elif not is_signed(checkpoint.note, key):
            result.flaws.append(Flaw("signature", detail=name))
        if len(result.flaws) >= _NAMED:
            return


def _outside_flaws(result: Verification, lines: Iterable[str], size: int, key: bytes) -> list[Flaw]:
    """Check that today's tree begins with each published tree; if not, name each row that differs."""
    flaws, tree, agreed = list[Flaw](), Tree(), 0
    differing: list[tuple[int, list[list[Any]]]] = []
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        result.outside += 1
        try:
            published = json.loads(line)
            count, root = read_note(published["note"])
            rows = published["rows"]
        except (ValueError, TypeError, LookupError):
            flaws.append(Flaw("outside_unreadable", detail=f"line {place}"))
            continue
        if count > size:  # of a line that was appended meanwhile
            size, tree = Sealing.objects.values_list("size", flat=True).first() or 0, Tree()
        if not is_signed(published["note"], key):
            flaws.append(Flaw("outside_signature", detail=f"checkpoint of {count} leaves"))
        elif differing or count > size or tree.root(count) != root:  # after the first that differs, all do
            differing.append((count, rows))
        else:
            agreed = count
    return flaws + (_that_differ(agreed, differing) if differing else [])


def _that_differ(agreed: int, published: list[tuple[int, list[list[Any]]]]) -> list[Flaw]:
    """The rows that differ from the lists of these checkpoints, in their order; the first `agreed` leaves agree."""
    names = {table.number: table.name for table in audited_tables()}
    now = [(names.get(key.source, ""), key.row, leaf.hex()[:8]) for _, key, leaf in _there(agreed)]
    places = {row[:2]: place for place, row in enumerate(now)}
    flaws, after, next_leaf = list[Flaw](), agreed, 0
    for count, rows in published:
        begin, known = count - len(rows), set[int]()
        for leaf, (table, number, prefix) in enumerate(rows, start=begin):
            detail = f"leaf {leaf}, not as in the checkpoint of {count} leaves"
            place = places.get((table, number))
            if place is None:
                flaws.append(Flaw("outside_missing", table, number, detail))
            else:
                known.add(place)
                if now[place][2] != prefix:
                    flaws.append(Flaw("outside_changed", table, number, detail))
        # the present rows of this range; if the list of an earlier checkpoint is missing, its rows are not known
        first = next_leaf if begin <= after else min(known, default=0)
        end = max(known, default=first - 1) + 1
        detail = f"not in the checkpoint of {count} leaves"
        flaws += [
            Flaw("outside_inserted", *now[place][:2], detail) for place in range(first, end) if place not in known
        ]
        after, next_leaf = count, max(end, next_leaf)
    if not flaws:
        count, rows = published[0]
        detail = f"a row before leaf {count - len(rows)} is not as in the checkpoint of {count} leaves"
        flaws.append(Flaw("outside_before", detail=detail))
    return flaws


def _there(first: int) -> Iterator[tuple[int, Key, bytes]]:
    """The leaves from `first` on, as far as there are any."""
    size = Sealing.objects.values_list("size", flat=True).first() or 0
    try:
        yield from leaves(first, size)
    except Tile.DoesNotExist:
        return
