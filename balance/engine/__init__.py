"""Explain the balances that the upstream told us, and find every rupiah that nobody can explain.

Pure: it knows no database, no clock and no network. docs/reconciliation.md explains it with a worked example.

Each effect of an order on the balance (its debit, its refund) took place at one moment that we do not know, inside an
interval that we do. A reading is a balance at one moment inside [sent, received]. So for a reading each effect is
certainly in it, certainly not, or open. The reading minus the certain effects leaves `outside`: the sum of everything
that no order of ours explains, for each choice of open effects that may have happened. What has happened stays so:
the choices that explain one reading restrict those of the next. When no choice is left, something outside our orders
has moved the balance; by how much is known as soon as one value of `outside` is left.

All amounts in whole rupiah.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from balance.engine import choices
from balance.engine.effects import blocking, settle, split, still_possible
from balance.engine.facts import Difference, Guess, Progress, Reading, Spending, State, Story

__all__ = ["Difference", "Guess", "Progress", "Reading", "Spending", "State", "Story", "advance", "guess", "opening"]


def advance(state: State, readings: Iterable[Reading], spendings: Iterable[Spending]) -> Progress:
    """Evaluate readings for good, in the order they were sent, up to the first that an open order still blocks.

    `spendings`: every order that was sent and is not settled yet. The same input always gives the same result, and
    handing readings in over several runs gives the same as in one.
    """
    live = _by_sending(spendings)
    differences: list[Difference] = []
    settled: list[str] = []
    waits_for: list[str] = []
    evaluated = left_out = 0
    for reading in sorted(readings, key=lambda reading: reading.sent_at):
        if reading.sent_at <= state.upto:
            # Of readings that overlap nobody knows which is older; the first is enough.
            left_out += 1
            continue
        waits_for = blocking(reading, live)
        if waits_for:
            break
        stories = still_possible(state.stories or (), live)
        state, live, gone = settle(state, reading, live)
        settled += gone
        state, found, is_used = _evaluate(state, reading, live, stories)
        evaluated += is_used
        left_out += not is_used
        differences += found
    return Progress(
        state=state,
        differences=differences,
        settled=settled,
        blocking=waits_for,
        evaluated=evaluated,
        left_out=left_out,
    )


def opening(reading: Reading, spendings: Iterable[Spending]) -> int | None:
    """What the account had (rupiah) before the first of these orders; None while the reading leaves that open.

    A parked order is taken as not charged: nobody knows for how long it stays so. If it was, that is found later.
    """
    live = _by_sending(spendings)
    rest, open_effects = split(State.opened(balance=0, at=reading.sent_at), reading, live)
    if blocking(reading, live) or not all(open_effect.is_parked for open_effect in open_effects):
        return None
    return rest


def guess(state: State, reading: Reading, spendings: Iterable[Spending]) -> Guess:
    """What `reading` says now, whatever is still open; `state` and `spendings` as `advance` has left them."""
    live = _by_sending(spendings)
    waits_for = blocking(reading, live)
    _stories, rest, open_effects, _done = choices.without_parked(state.stories, *split(state, reading, live))
    if state.is_lost or len(open_effects) > choices.MOST_OPEN_EFFECTS:
        return Guess(difference=None, blocking=waits_for)
    possible = {rest - total - state.exact for total in choices.possible_sums(open_effects)}
    return Guess(difference=min(possible, key=abs), blocking=waits_for)


def _by_sending(spendings: Iterable[Spending]) -> list[Spending]:
    return sorted(spendings, key=lambda spending: spending.sent_at)


def _evaluate(
    state: State, reading: Reading, live: Sequence[Spending], stories: Sequence[Story]
) -> tuple[State, list[Difference], bool]:
    """Go on with the stories that can be true: the new state, what was found, whether the reading could be used."""
    state = replace(state, upto=reading.received_at)
    possible, rest, open_effects, done = choices.without_parked(stories, *split(state, reading, live))
    if len(open_effects) > choices.MOST_OPEN_EFFECTS:
        return state, [], False
    told = choices.go_on(state, possible, rest, open_effects)
    is_partial = told.is_partial or len(possible) < len(stories)
    state = replace(state, is_partial=is_partial, is_lost=not told.stories)
    if told.is_proven:
        state = replace(state, changed_at=state.changed_at or reading.received_at)
    if not told.stories:
        return state, [], True  # the stories stay as they were, for what they say of parked orders
    stories = tuple(story._replace(happened=story.happened | done) for story in told.stories)
    state = replace(state, stories=stories, compared_upto=reading.received_at)
    likeliest = state.likeliest
    if len({story.outside for story in likeliest}) > 1:
        return state, [], True

    outside = likeliest[0].outside
    # Told in different ways, the single changes are anybody's guess, but not their sum.
    ways = {story.changes for story in likeliest}
    amounts = (ways.pop() if len(ways) == 1 else None) or (outside - state.exact,)
    found = [
        Difference(amount=amount, from_at=state.exact_at, to_at=reading.received_at) for amount in amounts if amount
    ]
    state = replace(state, exact=outside, changed_at=None, stories=_from_now_on(state.stories))
    if len(state.stories) == 1 and all(open_effect.is_parked for open_effect in open_effects):
        state = replace(state, exact_at=reading.sent_at)
    return state, found, True


def _from_now_on(stories: Sequence[Story]) -> tuple[Story, ...]:
    """The stories with what was found left out; one that says otherwise needs a surprise to say so."""
    fewest, outside = stories[0].surprises, stories[0].outside
    if not fewest:
        return tuple(stories)
    return tuple(
        Story(story.outside, story.happened)
        if story.surprises == fewest
        else story._replace(surprises=1, changes=(story.outside - outside,) if story.outside != outside else None)
        for story in stories
    )
