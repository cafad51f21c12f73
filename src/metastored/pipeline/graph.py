"""The order of steps: a step runs after those that it needs, otherwise in the order of the file. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from metastored.pipeline.model import Step


def circle(steps: Sequence[Step]) -> tuple[str, ...]:
    """The names of steps that need each other in a circle; nothing if there are none. Unknown names are ignored."""
    needs = {step.name: step.needs for step in steps}
    done: set[str] = set()
    for start in needs:
        if start in done:
            continue
        # A walk with the names above the present one; a stack, because a file may have thousands of steps.
        above: list[str] = [start]
        open_needs = [iter(needs[start])]
        while above:
            following = next((each for each in open_needs[-1] if each in needs and each not in done), None)
            if following is None:
                done.add(above.pop())
                open_needs.pop()
            elif following in above:
                return tuple(above[above.index(following) :])
            else:
                above.append(following)
                open_needs.append(iter(needs[following]))
    return ()


def ordered(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps in the order in which they run. They have no circle."""
    waiting = list(steps)
    steps_in_order: list[Step] = []
    done: set[str] = set()
    while waiting:
        ready = next(step for step in waiting if done.issuperset(step.needs))
        waiting.remove(ready)
        steps_in_order.append(ready)
        done.add(ready.name)
    return tuple(steps_in_order)
