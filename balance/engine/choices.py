"""The choices of open effects that explain a reading, and the stories that lead from one reading to the next.

A choice is a number whose bit i stands for the i-th open effect. With a reading, each choice gives one value of
`outside`. A story goes on with every choice that has in it what has happened before: without a surprise if the value
stays, with one more if it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from balance.engine.effects import OpenEffect
from balance.engine.facts import Effect, Part, State, Story

# 2^14 choices take a few milliseconds; with more open effects a reading is left out: wait, never alarm.
MOST_OPEN_EFFECTS = 14
# With more than these no outside change is considered in the reading: too many stories would have to be kept.
_MOST_OPEN_TO_BE_SURPRISED = 8
_MOST_STORIES = 400

_Stories = dict[int, Story]


def possible_sums(open_effects: Sequence[OpenEffect]) -> set[int]:
    """What the open effects may have done to the balance together, in rupiah."""
    is_orderly = _orderly(open_effects)
    return {total for choice, total in enumerate(_sums(open_effects)) if is_orderly(choice)}


def without_parked(
    stories: Sequence[Story], rest: int, open_effects: Sequence[OpenEffect]
) -> tuple[list[Story], int, list[OpenEffect], frozenset[Effect]]:
    """All of it with parked orders taken to be as they were, if with them too many effects are open.

    Returns the stories that say so, the rest without what parked orders did, the other open effects, and the effects
    of parked orders that had happened; everything as it came when they are few.
    """
    parked = {open_effect.effect: open_effect.amount for open_effect in open_effects if open_effect.is_parked}
    if len(open_effects) <= MOST_OPEN_EFFECTS:
        return list(stories), rest, list(open_effects), frozenset()
    likeliest = [story for story in stories if story.surprises == stories[0].surprises]
    done = min((story.happened & parked.keys() for story in likeliest), key=len, default=frozenset())
    kept = [story for story in stories if story.happened & parked.keys() == done]
    others = [open_effect for open_effect in open_effects if not open_effect.is_parked]
    return kept, rest - sum(parked[effect] for effect in done), others, frozenset(done)


class Told(NamedTuple):
    """How the stories go on with a reading, fewest surprises first; none when they were too many to be kept.

    `is_partial`: some were. `is_proven`: whatever the truth is, something outside our orders has happened.
    """

    stories: tuple[Story, ...]
    is_partial: bool
    is_proven: bool


def go_on(state: State, stories: Sequence[Story], rest: int, open_effects: Sequence[OpenEffect]) -> Told:
    """Go on with the stories of `state` that can still be true."""
    few = sum(not open_effect.is_parked for open_effect in open_effects) <= _MOST_OPEN_TO_BE_SURPRISED
    fewest = state.stories[0].surprises
    found = {} if state.is_lost else _continued(stories, rest, open_effects, may_surprise=few)
    least = min((story.surprises for story in found.values()), default=None)
    if least is None or (least > fewest and (state.is_partial or not few)):
        # What was not kept may have been the truth: nothing is demanded of what the readings before seemed to say.
        if not few:
            return Told(stories=(), is_partial=True, is_proven=not state.is_lost)
        found = _anew(state, stories, rest, open_effects)
        least = min(story.surprises for story in found.values())
    kept = sorted(
        _undominated({choice: story for choice, story in found.items() if story.surprises <= least + 1}, open_effects),
        key=lambda story: story.surprises,
    )
    is_proven = least > fewest
    was_partial = state.is_partial and not all(open_effect.is_parked for open_effect in open_effects)
    is_partial = not few or was_partial
    if len(kept) > _MOST_STORIES:
        kept, is_partial = [story for story in kept if story.surprises == least], True
    if len(kept) > _MOST_STORIES:
        return Told(stories=(), is_partial=True, is_proven=is_proven)
    return Told(stories=tuple(kept), is_partial=is_partial, is_proven=is_proven)


def _continued(
    stories: Sequence[Story], rest: int, open_effects: Sequence[OpenEffect], *, may_surprise: bool
) -> _Stories:
    """For each choice the best story that leads to it.

    Parked orders are taken to be as they were when something outside happens: that one of them took effect in just
    that moment is the least likely of all, and waiting for it to be resolved would hide the change for days.
    """
    effects = [open_effect.effect for open_effect in open_effects]
    bits = {effect: 1 << index for index, effect in enumerate(effects)}
    parked = sum(1 << index for index, open_effect in enumerate(open_effects) if open_effect.is_parked)
    # What had happened then and is open now. What is certain by now demands nothing.
    demands = [(sum(bits.get(effect, 0) for effect in story.happened), story) for story in stories]
    by_outside: dict[int, list[tuple[int, Story]]] = {}
    for demand, story in demands:
        by_outside.setdefault(story.outside, []).append((demand, story))
    found: _Stories = {}
    is_orderly = _orderly(open_effects)
    for choice, total in enumerate(_sums(open_effects)):
        if not is_orderly(choice):
            continue
        outside, best = rest - total, None
        for demand, story in by_outside.get(outside, ()):
            if choice & demand == demand:
                best = _better(best, story)
        for demand, story in demands if may_surprise else ():
            if best and story.surprises + 1 > best.surprises:
                break
            if story.outside != outside and choice & demand == demand and not (choice ^ demand) & parked:
                best = _better(best, _surprised(story, outside))
        if best:
            found[choice] = best._replace(outside=outside, happened=_chosen(choice, effects))
    return found


def _anew(state: State, stories: Sequence[Story], rest: int, open_effects: Sequence[OpenEffect]) -> _Stories:
    """A story for every choice, with what is proven told as one change. Parked orders as they were.

    While nothing is proven, only the way was lost, one of them may have taken effect meanwhile.
    """
    effects = [open_effect.effect for open_effect in open_effects]
    parked = frozenset(open_effect.effect for open_effect in open_effects if open_effect.is_parked)
    before = {story.happened & parked for story in stories if story.surprises == stories[0].surprises} or {frozenset()}
    is_calm = state.is_lost and state.changed_at is None
    surprises = state.stories[0].surprises + 1
    found: _Stories = {}
    is_orderly = _orderly(open_effects)
    for choice, total in enumerate(_sums(open_effects)):
        if not is_orderly(choice):
            continue
        happened, outside = _chosen(choice, effects), rest - total
        if is_calm and outside == state.exact and any(one <= happened for one in before):
            found[choice] = Story(outside, happened)
        elif happened & parked in before:
            changes = None if outside == state.exact else (outside - state.exact,)
            found[choice] = Story(outside, happened, surprises, changes)
    return found


def _surprised(story: Story, outside: int) -> Story:
    changes = None if story.changes is None else (*story.changes, outside - story.outside)
    return story._replace(surprises=story.surprises + 1, changes=changes)


def _better(one: Story | None, other: Story) -> Story:
    """The one with fewer surprises. Of two that are as likely nobody can tell what the single changes were."""
    if one is None or other.surprises < one.surprises:
        return other
    if other.surprises > one.surprises or one.changes == other.changes:
        return one
    return one._replace(changes=None)


def _undominated(found: _Stories, open_effects: Sequence[OpenEffect]) -> Iterable[Story]:
    """Without those that demand more than another with the same value and no more surprises.

    Unless they differ in parked orders: these stay as they are with a surprise, so that the two go on differently.
    """
    parked = sum(1 << index for index, open_effect in enumerate(open_effects) if open_effect.is_parked)
    alike: dict[tuple[int, int], list[int]] = {}
    for choice, story in found.items():
        alike.setdefault((story.outside, choice & parked), []).append(choice)
    for choices in alike.values():
        for choice in choices:
            less = [found[other] for other in choices if other != choice and other & choice == other]
            if not any(other.surprises <= found[choice].surprises for other in less):
                yield found[choice]


def _chosen(choice: int, effects: Sequence[Effect]) -> frozenset[Effect]:
    return frozenset(effect for index, effect in enumerate(effects) if choice >> index & 1)


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
