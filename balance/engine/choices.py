"""The choices of open effects that explain a reading, and how they restrict those of the next.

A choice is a number whose bit i stands for the i-th open effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from balance.engine.effects import OpenEffect
from balance.engine.facts import Effect, Explanation, Part, State

# 2^14 choices take a few milliseconds; with more open effects a reading is left out: wait, never alarm.
MOST_OPEN_EFFECTS = 14
# To start anew after an outside change, a reading must leave few choices: each of them is remembered.
_MOST_OPEN_TO_START_ANEW = 8
# More explanations than this are not remembered one by one; nothing is then demanded of the next reading's.
_MOST_EXPLANATIONS = 200

# What the outside changes may sum up to (rupiah), each with the explanations it rests on.
Outside = dict[int, frozenset[Explanation]]


def possible_sums(open_effects: Sequence[OpenEffect]) -> set[int]:
    """What the open effects may have done to the balance together, in rupiah."""
    is_orderly = _orderly(open_effects)
    return {total for choice, total in enumerate(_sums(open_effects)) if is_orderly(choice)}


def go_on(state: State, rest: int, open_effects: Sequence[OpenEffect]) -> Outside:
    """The choices that explain the reading with an `outside` that was possible before, and what happened then."""
    if not state.outside:
        return {}
    effects = [open_effect.effect for open_effect in open_effects]
    bits = {effect: 1 << index for index, effect in enumerate(effects)}
    # What had happened then and is open now. What is certain by now, or certainly never was, demands nothing.
    demanded = {
        amount: {sum(bits.get(effect, 0) for effect in explanation) for explanation in explanations}
        for amount, explanations in state.outside.items()
    }
    is_orderly = _orderly(open_effects)
    kept: dict[int, list[int]] = {}
    for choice, total in enumerate(_sums(open_effects)):
        masks = demanded.get(rest - total)
        if masks is not None and is_orderly(choice) and any(choice & mask == mask for mask in masks):
            kept.setdefault(rest - total, []).append(choice)
    return {amount: _explanations(choices, effects) for amount, choices in kept.items()}


def start_anew(state: State, rest: int, open_effects: Sequence[OpenEffect]) -> Outside | None:
    """Every choice that may explain the reading together with an outside change; None when there are too many.

    Nothing is demanded of what the readings before seemed to say: that rested on there being no outside change, and
    one may have looked just like an order's effect. Parked orders alone are taken to be as they were, or not charged:
    that one of them took effect in the very moment of an outside change is the least likely of all, and waiting for it
    to be resolved would hide the change for days.
    """
    if sum(not open_effect.is_parked for open_effect in open_effects) > _MOST_OPEN_TO_START_ANEW:
        return None
    effects = [open_effect.effect for open_effect in open_effects]
    parked = {open_effect.effect: 1 << i for i, open_effect in enumerate(open_effects) if open_effect.is_parked}
    all_parked = sum(parked.values())
    explained = [chosen for explanations in (state.outside or {}).values() for chosen in explanations]
    before = {0} | {sum(parked.get(effect, 0) for effect in chosen) for chosen in explained}
    is_orderly = _orderly(open_effects)
    found: dict[int, list[int]] = {}
    for choice, total in enumerate(_sums(open_effects)):
        if choice & all_parked in before and is_orderly(choice):
            found.setdefault(rest - total, []).append(choice)
    return {amount: _explanations(choices, effects) for amount, choices in found.items()}


def _sums(open_effects: Sequence[OpenEffect]) -> list[int]:
    """The sum of each choice, at its number."""
    sums = [0]
    for open_effect in open_effects:
        sums += [total + open_effect.amount for total in sums]
    return sums


def _orderly(open_effects: Sequence[OpenEffect]) -> Callable[[int], bool]:
    """Tells of a choice whether it has no refund whose own debit is open and not chosen."""
    bits = {open_effect.effect: 1 << index for index, open_effect in enumerate(open_effects)}
    pairs = [
        (bit, bits[debit])
        for effect, bit in bits.items()
        if effect.part is Part.REFUND and (debit := Effect(effect.ref_id, Part.DEBIT)) in bits
    ]
    return lambda choice: all(choice & debit or not choice & refund for refund, debit in pairs)


def _explanations(choices: Sequence[int], effects: Sequence[Effect]) -> frozenset[Explanation]:
    """The choices as sets of effects, without those that only add to another: a smaller one demands less."""
    if len(choices) > _MOST_EXPLANATIONS:
        return frozenset({frozenset()})
    least = [choice for choice in choices if not any(other != choice and other & choice == other for other in choices)]
    return frozenset(
        frozenset(effect for index, effect in enumerate(effects) if choice >> index & 1) for choice in least
    )
