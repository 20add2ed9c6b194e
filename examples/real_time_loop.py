"""A crane that is steered in real time, here by a thread that stands for an operator. `python examples/real_time_loop.py`"""

import queue
import threading
import time

import torsor as ts

model = ts.Model("crane", gravity=(0, 0, -9.81))
trolley = model.body("trolley", mass=50.0, inertia=(1, 1, 1))
load = model.body("load", mass=200.0, inertia=(5, 5, 5), at=(0, 0, -4))
rail = model.add(ts.Prismatic("rail", model.ground, trolley, axis="x"))
rope = model.add(ts.Revolute("rope", trolley, load, point=(0, 0, 0), axis="y"))
model.add(ts.JointForce("winch", rail, model.input("push") - 40.0 * rail.rate[0]))

sim, period, orders, late = ts.Simulation(model), 0.01, queue.Queue(), []
sim.advance(period)  # the first call loads what the next ones need
operator = [threading.Timer(when, orders.put, (push,)) for when, push in ((0.1, 400.0), (0.6, -400.0), (1.1, 0.0))]
began = time.perf_counter() - sim.time
for timer in operator:
    timer.start()
while sim.time < 1.5:
    push = {} if orders.empty() else {"push": orders.get()}
    sim.advance(period, **push)
    time.sleep(max(sim.time - (time.perf_counter() - began), 0.0))
    late.append(1e3 * (time.perf_counter() - began - sim.time))  # with what the system wakes it up too late
    if push:
        print(f"t = {sim.time:.2f} s: push {push['push']:.0f} N, load at {sim['load.position'][0]:.3f} m")
print(f"rope {sim.coordinates['rope']:+.3f} rad at t = {sim.time:.2f} s")
print(f"late by {sum(late) / len(late):.2f} ms on the average, and by {max(late):.2f} ms at most")
