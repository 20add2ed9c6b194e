"""A system that is easily shared out, and ranks that are threads of one process."""

import threading

import torsor as ts
from torsor.parallel.threads import Threads


def bush(branches=3, length=3):
    """A chain on the ground with chains hung on it, rods that close loops, and springs between neighbouring branches."""
    model = ts.Model("bush", gravity=(1, 0, -9.81))
    above, tips = model.ground, []
    for k in range(branches):
        stem = model.body(f"stem{k}", mass=2.0, inertia=(0.3, 0.2, 0.1), at=(k, 0.1, 0))
        hinge = model.add(ts.Revolute(f"s{k}", above, stem, point=(k - 0.5, 0, 0), axis=(0, 1, 0.1 * k)))
        model.add(ts.TorsionSpring(f"stiff{k}", hinge, stiffness=4.0, damping=0.3))
        above = hung = stem
        links = []
        for i in range(length):
            links.append(model.body(f"b{k}_{i}", mass=1.0, inertia=(0.1, 0.2, 0.15), at=(k + 0.1 * i, 0, -i - 1)))
            model.add(ts.Spherical(f"j{k}_{i}", hung, links[-1], point=(k, 0.05, -i - 0.5)))
            hung = links[-1]
        model.add(ts.Distance(f"rod{k}", stem, links[1]))
        model.add(ts.SpringDamper(f"own{k}", links[0], links[-1], stiffness=30.0, damping=0.4, length=1.0))
        model.add(ts.SpringDamper(f"held{k}", model.ground, links[-1], stiffness=3.0, damping=0.1, length=1.0))
        tips.append(links[-1])
    model.add(ts.SpringDamper("across", tips[0], tips[-1], stiffness=5.0, damping=0.2, length=1.0))
    return model


def in_threads(count, action):
    """What an action gives on each of so many ranks."""
    found, failed = [None] * count, []

    def run(ranks):
        try:
            with ranks.python_lock():
                found[ranks.rank] = action(ranks)
        except BaseException as error:
            failed.append(error)
            ranks.notify_end(error)

    threads = [threading.Thread(target=run, args=(ranks,)) for ranks in Threads.create(count)]
    [t.start() for t in threads], [t.join() for t in threads]
    for error in failed:
        raise error
    return found
