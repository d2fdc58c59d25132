"""The last steps of an optimal episode, backwards: rules, values, and when they repeat.

With n steps left, V_n = max_a R + P V_{n-1}. Kept are h_n = V_n - V_n(0), which stays
as small as the span of the bias, and V_n(0) - n g apart from it. Once h repeats to the
last bit, so does everything that follows from it, and nobody needs to go on.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.solving.copying import copy_vector
from simgap._kernels.solving.episodic import greedy_backward_step
from simgap.arrays import FloatArray, IndexArray, OffsetArray

DONE, SEEN, PERIOD = 0, 1, 2  # of marks: steps left, those of the snapshot, its return


@kernel(allocates=True)
def back_with_rules(
    indptr: OffsetArray,
    indices: IndexArray,
    values: FloatArray,
    rewards: FloatArray,
    n_actions: int,
    gain: float,
    slack: float,
    steps: int,
    marks: OffsetArray,
    level: FloatArray,
    now: FloatArray,
    snapshot: FloatArray,
    rule: IndexArray,
    since: OffsetArray,
    rules: IndexArray,
    table: FloatArray,
) -> tuple[int, int]:
    """Take steps backwards until h repeats; return how many, and changes of the rule.

    h is `now`, V_n(0) - n g is `level[0]`. A rule takes the first action within `slack`
    of the best. Changes go to `since` and `rules`, h_n + level to the rows of `table`
    as far as it has rows. The snapshot is renewed whenever n is a power of two, so a
    cycle is found within three times the steps it needs (Brent).
    """
    n_states = now.size
    best, chosen = np.empty(n_states), np.empty(n_states, np.int32)
    changes = 0
    for k in range(steps):
        changed = marks[DONE] == 0
        greedy_backward_step(
            indptr, indices, values, rewards, n_actions, slack, now, best, chosen
        )
        for state in range(n_states):
            if chosen[state] != rule[state]:
                changed = True
                rule[state] = chosen[state]
        base = best[0]
        level[0] += base - gain
        for state in range(n_states):
            now[state] = best[state] - base
        marks[DONE] += 1
        if changed:
            since[changes] = marks[DONE]
            copy_vector(rule, rules[changes])
            changes += 1
        if k < table.shape[0]:
            for state in range(n_states):
                table[k, state] = now[state] + level[0]
        same = True
        for state in range(n_states):
            if now[state] != snapshot[state]:
                same = False
                break
        if same:
            marks[PERIOD] = marks[DONE] - marks[SEEN]
            return k + 1, changes
        if marks[DONE] & (marks[DONE] - 1) == 0:
            copy_vector(now, snapshot)
            marks[SEEN] = marks[DONE]
    return steps, changes
