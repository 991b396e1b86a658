"""Verifies that nobody changed an audited row: rows against leaves, leaves against tree, tree against checkpoints.

The owner of the database can compute everything inside again. Copies outside (log, messages, file) stay: `outside`
compares them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models.functions import Least, Length

from audit import merkle
from audit.flaws import Flaw, Verification
from audit.models import Checkpoint, Sealing, Tile
from audit.services.live import live_flaws, number_flaws, trigger_flaws
from audit.services.rules import rule_flaws
from audit.services.sealing import rows_in_order
from audit.services.signing import is_signed, public_key, read_note
from audit.services.sources import KEY_SIZE, Key, audited_tables
from audit.services.tree import WIDTH, Tree, leaves

# No more are named: of a thousand changed rows the first ones are enough.
_NAMED = 20


def verify(*, recent: int | None = None, outside: Iterable[str] = (), key: bytes | None = None) -> Verification:
    """Compare everything, or only the `recent` newest leaves. `outside`: lines of a file of checkpoints.

    `key`: the public key of the signatures, by default that of our own. The shop may write meanwhile.
    """
    result = Verification()
    # in this order, so that what is sealed meanwhile is not a flaw
    newest = Checkpoint.objects.order_by("-size").values_list("size", flat=True).first() or 0
    state = Sealing.objects.first() or Sealing()
    first = 0 if recent is None else max(0, state.size - recent) // WIDTH * WIDTH
    result.flaws += trigger_flaws()
    if (cut := _cut_off(state, newest)) or state.size == 0:
        result.flaws += cut
    else:
        _verify_leaves(result, state, first)
        _verify_tree(result, state, first)
        _verify_checkpoints(result, newest, first, key or public_key())
    result.flaws += number_flaws()
    since = None if recent is None or cut else _first_txid(first)
    result.flaws += live_flaws(since=since) + rule_flaws(since=since)
    _verify_outside(result, outside, state.size, key or public_key())
    del result.flaws[_NAMED:]
    return result


def _cut_off(state: Sealing, newest: int) -> list[Flaw]:
    """Whether the tree ends before what was signed, or before what it says itself: then nothing else is compared."""
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
    """Both come in the order of their keys: a missing or different row is named."""
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
    """Each whole tile stands above itself as the one hash that follows from it."""
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


def _verify_outside(result: Verification, lines: Iterable[str], size: int, key: bytes) -> None:
    """The tree of today begins with each tree that was ever published."""
    tree = Tree()
    for place, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        result.outside += 1
        try:
            published = json.loads(line)
            count, root = read_note(published["note"])
            _ = published["rows"]
        except (ValueError, TypeError, LookupError):
            result.flaws.append(Flaw("outside_unreadable", detail=f"line {place}"))
            continue
        if count > size:  # of a line that was appended meanwhile
            size, tree = Sealing.objects.values_list("size", flat=True).first() or 0, Tree()
        if not is_signed(published["note"], key):
            result.flaws.append(Flaw("outside_signature", detail=f"checkpoint of {count} leaves"))
        elif count > size or tree.root(count) != root:
            result.flaws.append(_first_that_differs(published, count))
            return  # every later one differs, too


def _first_that_differs(published: dict[str, Any], count: int) -> Flaw:
    """The first leaf that is not what the checkpoint's own list says."""
    then: list[list[Any]] = published["rows"]
    begin = count - len(then)
    names = {table.number: table.name for table in audited_tables()}
    # some more, so that a row which only moved is found
    now: list[list[Any]] = [
        [names.get(key.source, ""), key.row, leaf.hex()[:8]] for _, key, leaf in _there(begin, count + WIDTH)
    ]
    known, there = {tuple(row[:2]) for row in then}, {tuple(row[:2]) for row in now}
    for place, (table, number, prefix) in enumerate(then):
        detail = f"leaf {begin + place}, not as in the checkpoint of {count} leaves"
        if (table, number) not in there:
            return Flaw("outside_missing", table, number, detail)
        if tuple(now[place][:2]) not in known:
            return Flaw("outside_inserted", now[place][0], now[place][1], detail)
        if now[place] != [table, number, prefix]:
            return Flaw("outside_changed", table, number, detail)
    return Flaw("outside_before", detail=f"a row before leaf {begin} is not as in the checkpoint of {count} leaves")


def _there(first: int, end: int) -> Iterator[tuple[int, Key, bytes]]:
    """The leaves from `first` on, as far as there are any."""
    try:
        yield from leaves(first, end)
    except Tile.DoesNotExist:
        return
