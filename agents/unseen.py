"""The cards that a view does not show, dealt to the places where they may lie: each way as likely as any, by counts.

place, stage, kind, left and p are those of :mod:`agents.places`.

c      :class:`Classes`
g      the key and the count of the random numbers, an int64 array of length 2
"""

from math import comb, lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.places import ANY_NUMBER, FREE, NUM_PLACES, NUM_SUITS
from pitch_env.cards import NO_SUIT
from pitch_env.engine.jit import ONE, below, kernel, mix, num_cards
from pitch_env.engine.state import MAX_PACK

CHOOSE = np.array([[float(comb(n, k)) for k in range(MAX_PACK + 1)] for n in range(MAX_PACK + 1)])
"""[n, k] ways to choose k of n."""

LOG_FACTORIAL = np.array([lgamma(n + 1) for n in range(MAX_PACK + 1)])


class Classes(NamedTuple):
    """Kinds that the same places may hold, put together, and the numbers that a table of ways goes by.

    The numbers are those of the trumps in each loose stage, then those of the cards of each class.
    """

    of: NDArray[np.int64]
    """(kinds,) the class of each kind."""
    num_kinds: int
    """5 where no own discards are to be placed, else 10."""
    first: int
    """How many loose stages there are; numbers from here on are of classes."""
    trump: int
    """Which number is that of the trumps."""
    own: int
    """Numbers from here on are of own discards."""
    full: NDArray[np.int64]
    """(numbers,) what there is of each before anything is placed."""
    strides: NDArray[np.int64]
    """(numbers,) strides of the table, which leaves out the last number."""
    size: int
    """Size of the table."""


class Groups(NamedTuple):
    """Places that may hold the same cards, put together; one alone where it matters how its cards came to it."""

    need: NDArray[np.int64]
    """(groups,) how many unseen cards lie there."""
    bad: NDArray[np.int64]
    """(groups,) kinds that cannot be among them."""
    alone: NDArray[np.int64]
    """(groups,) the place that is a group alone, else −1."""
    seen: NDArray[np.int64]
    """(groups, 3) cards seen at such a place: trumps, others, own discards."""
    of: NDArray[np.int64]
    """(places,) the group of each place, −1 where any card may lie or all are known."""


# Random numbers


@kernel
def draw_below(g, bound):
    """Returns a random number in 0 … bound − 1; modifies ``g``."""
    g[1] += 1
    return below(mix(g[0], g[1]), bound)


@kernel
def unit(g):
    """Returns a random number in 0 … 1; modifies ``g``."""
    g[1] += 1
    return (mix(g[0], g[1]) & ((ONE << 53) - 1)) / (1 << 53)


@kernel
def shuffle(cards, start, end, g):
    """Shuffles a part of a list; modifies ``cards`` and ``g``."""
    for i in range(start, end - 1):
        j = i + draw_below(g, end - i)
        cards[i], cards[j] = cards[j], cards[i]


# Counting the ways


@kernel
def make_classes(r, trump, left, p):
    """Returns the classes of the unseen cards; trumps are one by themselves."""
    num_kinds = 2 * NUM_SUITS if left[1].sum() else NUM_SUITS
    of = np.zeros(2 * NUM_SUITS, np.int64)
    patterns = np.zeros(2 * NUM_SUITS, np.int64)
    num = 0
    for kind in range(num_kinds):
        pattern = ONE * (kind == trump) + 2 * (kind >= NUM_SUITS)
        for place in range(NUM_PLACES):
            pattern |= ((p.bad[place] >> kind) & 1) << (place + 2)
        found = -1
        for k in range(num):
            if patterns[k] == pattern:
                found = k
        if found == -1:
            patterns[num] = pattern
            found = num
            num += 1
        of[kind] = found
    first = np.sum(p.loose > 0)
    full = np.zeros(first + num, np.int64)
    digit = 0
    for stage in range(len(p.loose)):
        if p.loose[stage]:
            full[digit] = p.loose[stage]
            digit += 1
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        for own in range(2):
            full[first + of[r.suit_of[by, card] + own * NUM_SUITS]] += left[own, card]
    strides = np.ones(len(full), np.int64)
    size = np.int64(1)
    for k in range(len(full) - 1):
        strides[k] = size
        size *= full[k] + 1
    own_at = first + (of[NUM_SUITS] if num_kinds > NUM_SUITS else num)
    return Classes(of, np.int64(num_kinds), first, first + of[max(trump, 0)], own_at, full, strides, size)


@kernel
def group_places(r, trump, p):
    """Returns the groups of the places."""
    need = np.zeros(NUM_PLACES, np.int64)
    bad = np.zeros(NUM_PLACES, np.int64)
    alone = np.full(NUM_PLACES, -1)
    seen = np.zeros((NUM_PLACES, 3), np.int64)
    of = np.full(NUM_PLACES, -1)
    num = 0
    for place in range(NUM_PLACES):
        hidden = p.sizes[place] - p.known[place]
        single, loose = p.kept[place] != ANY_NUMBER, False
        for stage in range(1, len(p.loose)):
            single |= p.drawn[place, stage] > 0
            loose |= p.drawn[place, stage] > 0 and p.loose[stage] > 0
        if (hidden == 0 and not loose) or (p.bad[place] == FREE and not single):
            continue
        found = -1
        for k in range(num):
            if bad[k] == p.bad[place] and alone[k] == -1 and not single:
                found = k
        if found == -1:
            found = num
            num += 1
            bad[found] = p.bad[place]
            if single:
                alone[found] = place
                count_seen(r, trump, p, place, seen[found])
        need[found] += hidden
        of[place] = found
    return Groups(need[:num], bad[:num], alone[:num], seen[:num], of)


@kernel
def count_seen(r, trump, p, place, seen):
    """Counts the trumps, other cards and own discards seen at a place; modifies ``seen`` (3,)."""
    for i in range(p.known[place]):
        card = p.lists[place, i]
        bit = ONE << card
        if p.own & bit:
            seen[2] += 1
        elif place != p.mine or not p.held & bit:
            seen[0 if r.suit_of[trump, card] == trump else 1] += 1


@kernel
def limit_numbers(p, c, groups, h, counts, top):
    """Writes how much of each number a group can take, of what is left; modifies ``top`` (numbers,)."""
    need, bad, alone, of = groups.need[h], groups.bad[h], groups.alone[h], c.of
    top[:] = 0
    digit = 0
    for stage in range(1, len(p.loose)):
        if p.loose[stage]:
            if alone != -1:
                top[digit] = min(counts[digit], p.drawn[alone, stage])
            digit += 1
    for kind in range(c.num_kinds):
        if not (bad >> kind) & 1:
            k = c.first + of[kind]
            top[k] = min(counts[k], need)


@kernel
def next_split(split, top):
    """Advances all numbers but the last through all that ``top`` allows; False after the last."""
    for c in range(len(split) - 1):
        if split[c] < top[c]:
            split[c] += 1
            return True
        split[c] = 0
    return False


@kernel
def split_ways(split, top, counts, need, first, strides, later, at):
    """Returns in how many ways a group, and those after it, can be filled with given numbers.

    Writes the last number into ``split``.
    """
    last = len(split) - 1
    rest = need
    for k in range(first, last):
        rest -= split[k]
    split[last] = rest
    if rest < 0 or rest > top[last]:
        return 0.0
    ways = 1.0
    for k in range(first, last + 1):
        ways *= CHOOSE[counts[k], split[k]]
    for k in range(last):
        at -= split[k] * strides[k]
    return ways * later[at]


@kernel
def ways_to_come(split, p, c, place, seen):
    """Returns in how many ways the cards of a place can have come to it: which were kept, and which drawn when.

    5.5, 5.7  Kept are trumps only, where their number is known; a reshuffle brings none but from loose discards.
    """
    trumps, plain, own = seen[0] + split[c.trump], seen[1], seen[2]
    ways = 1.0
    if p.kept[place] != ANY_NUMBER:
        ways = CHOOSE[trumps, p.kept[place]]
        trumps -= p.kept[place]
    if len(p.loose) == 1:
        return ways
    for k in range(c.first, len(split)):
        if k >= c.own:
            own += split[k]
        elif k != c.trump:
            plain += split[k]
    digit = 0
    for stage in range(1, len(p.loose)):
        num = p.drawn[place, stage]
        if stage == p.own_stage:
            num -= own
        if p.loose[stage]:
            ways *= CHOOSE[max(trumps, 0), split[digit]]
            trumps -= split[digit]
            num -= split[digit]
            digit += 1
        if num < 0 or num > plain:
            return 0.0
        ways *= CHOOSE[plain, num]
        plain -= num
    return ways if trumps >= 0 else 0.0


@kernel
def ways_to_discard(p, c, at):
    """5.7  Returns in how many ways the seats can have discarded what became stocks, with some trumps left over."""
    ways = 1.0
    digit = 0
    for stage in range(1, len(p.loose)):
        if p.loose[stage]:
            not_used = (at // c.strides[digit]) % (c.full[digit] + 1)
            others = p.drawn[:, stage].sum() - p.loose[stage] + not_used
            if stage == p.own_stage:
                others -= num_cards(p.own)
            ways *= CHOOSE[others, not_used] if others >= 0 else 0.0
            digit += 1
    return ways


@kernel
def count_ways(p, c, groups):
    """Counts the ways to deal the unseen cards.

    Returns a table (groups + 1, numbers left, all but the last) of the ways to fill a group and those after it, and
    the logarithm of the ways to fill every place.
    """
    num_groups = len(groups.need)
    ways = np.ones((num_groups + 1, c.size))
    counts, split, top = np.zeros_like(c.full), np.zeros_like(c.full), np.zeros_like(c.full)
    last = len(c.full) - 1
    after = c.full[c.first :].sum()
    log_ways = 0.0
    for h in range(num_groups):
        after -= groups.need[h]
    log_ways += free_ways(after, p, groups)
    for at in range(c.size):
        ways[num_groups, at] = ways_to_discard(p, c, at)
    for h in range(num_groups - 1, -1, -1):
        after += groups.need[h]
        for at in range(c.size):
            ways[h, at] = 0.0
            rest = after
            for k in range(last):
                counts[k] = (at // c.strides[k]) % (c.full[k] + 1)
                if k >= c.first:
                    rest -= counts[k]
            if rest < 0 or rest > c.full[last]:
                continue
            counts[last] = rest
            limit_numbers(p, c, groups, h, counts, top)
            split[:] = 0
            more = True
            while more:
                num = split_ways(split, top, counts, groups.need[h], c.first, c.strides, ways[h + 1], at)
                if num > 0.0 and groups.alone[h] != -1:
                    num *= ways_to_come(split, p, c, groups.alone[h], groups.seen[h])
                ways[h, at] += num
                more = next_split(split, top)
        log_ways += LOG_FACTORIAL[groups.need[h]]
        for place in range(NUM_PLACES):
            if groups.of[place] == h:
                log_ways -= LOG_FACTORIAL[p.sizes[place] - p.known[place]]
    total = ways[0, c.size - 1]
    return ways, log_ways + np.log(total) if total > 0.0 else -np.inf


@kernel
def free_ways(num, p, groups):
    """Returns the logarithm of the ways to deal cards to the places that may hold any."""
    log_ways = LOG_FACTORIAL[num]
    for place in range(NUM_PLACES):
        if groups.of[place] == -1:
            log_ways -= LOG_FACTORIAL[p.sizes[place] - p.known[place]]
    return log_ways


# Dealing


@kernel
def fill(r, trump, left, lists, came, p, c, groups, ways, g):
    """Deals the unseen cards, each way as likely as any.

    Modifies ``lists``, ``came`` (places, stages), how many trumps of a place came from each loose stage, and ``g``.
    """
    cards = class_lists(r, trump, left, c.of, len(c.full) - c.first, g)
    counts, split, top = c.full.copy(), np.zeros_like(c.full), np.zeros_like(c.full)
    hand = np.zeros(MAX_PACK, np.int64)
    first, strides, at = c.first, c.strides, c.size - 1
    for h in range(len(groups.need)):
        need, alone = groups.need[h], groups.alone[h]
        limit_numbers(p, c, groups, h, counts, top)
        luck = unit(g) * ways[h, at]
        split[:] = 0
        more = True
        while more:
            part = split_ways(split, top, counts, need, first, strides, ways[h + 1], at)
            if part > 0.0 and alone != -1:
                part *= ways_to_come(split, p, c, alone, groups.seen[h])
            luck -= part
            if luck < 0.0:
                break
            more = next_split(split, top)
        num = 0
        for k in range(len(split)):
            at -= split[k] * strides[k] if k + 1 < len(split) else 0
            counts[k] -= split[k]
            for j in range(split[k] if k >= first else 0):
                hand[num] = cards[k - first, counts[k] + split[k] - 1 - j]
                num += 1
        if first and alone != -1:
            note_trumps(p.loose, alone, split, came)
        lay(hand, num, lists, p.known, p.sizes, groups.of, h, g)
    num = 0
    for k in range(first, len(counts)):
        for j in range(counts[k]):
            hand[num] = cards[k - first, j]
            num += 1
    lay(hand, num, lists, p.known, p.sizes, groups.of, -1, g)


@kernel
def note_trumps(loose, place, split, came):
    """Notes how many trumps of a place came from each loose stage; modifies ``came``."""
    digit = 0
    for stage in range(len(loose)):
        if loose[stage]:
            came[place, stage] = split[digit]
            digit += 1


@kernel
def class_lists(r, trump, left, class_of, num_classes, g):
    """Returns the unseen cards by class, each class shuffled."""
    cards = np.zeros((num_classes, MAX_PACK), np.int64)
    counts = np.zeros(num_classes, np.int64)
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        for own in range(2):
            for _ in range(left[own, card]):
                k = class_of[r.suit_of[by, card] + own * NUM_SUITS]
                cards[k, counts[k]] = card
                counts[k] += 1
    for k in range(num_classes):
        shuffle(cards[k], 0, counts[k], g)
    return cards


@kernel
def lay(cards, num, lists, known, sizes, group_of, group, g):
    """Lays cards in random order at the places of a group; modifies ``lists``."""
    shuffle(cards, 0, num, g)
    k = 0
    for place in range(NUM_PLACES):
        if group_of[place] == group:
            for i in range(known[place], sizes[place]):
                lists[place, i] = cards[k]
                k += 1
