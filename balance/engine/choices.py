"""The choices of open effects that explain a reading, and the stories that lead from one reading to the next.

A choice is a number whose bit i stands for the i-th open effect. With a reading, each choice gives one value of
`outside`. A story goes on with every choice that has in it what has happened before: without a surprise if the value
stays, with one more if it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


def go_on(
    state: State, stories: Sequence[Story], rest: int, open_effects: Sequence[OpenEffect]
) -> tuple[tuple[Story, ...] | None, bool]:
    """The stories that explain the reading too, fewest surprises first, and whether some were too many to be kept.

    `stories`: the state's, without those that can no longer be true. None: some surprise is certain, and there are too
    many open effects to say which.
    """
    few = sum(not open_effect.is_parked for open_effect in open_effects) <= _MOST_OPEN_TO_BE_SURPRISED
    fewest = state.stories[0].surprises if state.stories else 0
    found = _continued(stories, rest, open_effects, may_surprise=few)
    least = min((story.surprises for story in found.values()), default=None)
    if least is None or (least > fewest and (state.is_partial or not few)):
        # What was not kept may have been the truth: nothing is demanded of what the readings before seemed to say.
        if not few:
            return None, True
        found = _anew(state, rest, open_effects, surprises=fewest + 1)
        least = min(story.surprises for story in found.values())
    kept = sorted(
        _undominated({choice: story for choice, story in found.items() if story.surprises <= least + 1}),
        key=lambda story: story.surprises,
    )
    is_partial = not few or len(kept) > _MOST_STORIES or (state.is_partial and bool(open_effects))
    if len(kept) > _MOST_STORIES:
        kept = [story for story in kept if story.surprises == least]
    return tuple(kept[:_MOST_STORIES]), is_partial


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


def _anew(state: State, rest: int, open_effects: Sequence[OpenEffect], *, surprises: int) -> _Stories:
    """A story for every choice, with what is proven told as one change. Parked orders as they were, or not charged."""
    effects = [open_effect.effect for open_effect in open_effects]
    parked = frozenset(open_effect.effect for open_effect in open_effects if open_effect.is_parked)
    before = {frozenset(), *(story.happened & parked for story in state.stories or ())}
    found: _Stories = {}
    is_orderly = _orderly(open_effects)
    for choice, total in enumerate(_sums(open_effects)):
        happened = _chosen(choice, effects)
        if happened & parked not in before or not is_orderly(choice):
            continue
        outside = rest - total
        if outside == state.exact:
            known = state.changed_at is None and state.stories is None
            found[choice] = Story(outside, happened, 0, ()) if known else Story(outside, happened, surprises, None)
        else:
            found[choice] = Story(outside, happened, surprises, (outside - state.exact,))
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


def _undominated(found: _Stories) -> Iterable[Story]:
    """Without those that demand more than another with the same value and no more surprises."""
    by_outside: dict[int, list[int]] = {}
    for choice, story in found.items():
        by_outside.setdefault(story.outside, []).append(choice)
    for choices in by_outside.values():
        for choice in choices:
            story = found[choice]
            less = [found[other] for other in choices if other != choice and other & choice == other]
            if not any(other.surprises <= story.surprises for other in less):
                yield story


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
