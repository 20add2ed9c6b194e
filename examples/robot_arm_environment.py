"""A robot arm as a Gymnasium environment; gains that reach a point are searched for. `python examples/robot_arm_environment.py`"""

import gymnasium as gym
import numpy as np

import torsor as ts

model, rod = ts.Model("arm", gravity=(0, 0, -9.81)), ts.inertia.rod(1.6, 0.4, axis="x")
links = [model.ground, *[model.body(f"link{k}", inertia=rod, at=(0.4 * k + 0.2, 0, 0)) for k in range(3)]]
for k, axis in enumerate("zyy"):
    joint = model.add(ts.Revolute(f"joint{k}", links[k], links[k + 1], point=(0.4 * k, 0, 0), axis=axis))
    model.add(ts.JointForce(f"motor{k}", joint, model.input(f"torque{k}") - 0.2 * joint.rate[0]))
model.signal("miss", links[3].position + 0.2 * links[3].rotation[:, 0] - np.array([0.5, 0.5, 0.4]))  # of its tip
goal = np.array(list(ts.assemble(model, {"miss": (0, 0, 0)}).coordinates.values()))


class Reach(gym.Env):
    observation_space, action_space = gym.spaces.Box(-np.inf, np.inf, (2, 3), float), gym.spaces.Box(-1, 1, (3,), float)

    def __init__(self):
        self.sim = ts.Simulation(model, formulation="relative", method="rkmk4", step=0.01)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim.reset()
        return np.stack([self.sim["coordinate"], self.sim["rate"]]), {}

    def step(self, action):
        self.sim.advance(0.02, **dict(zip(model.declared_inputs, (60.0 * action).tolist())))
        seen = np.stack([self.sim["coordinate"], self.sim["rate"]])
        return seen, -float(np.linalg.norm(self.sim["miss"])), False, self.sim.time >= 2.0, {}


env, random, best, found = Reach(), np.random.default_rng(1), -np.inf, np.array([[40.0, 40, 40], [5, 5, 5]]) / 60
for _ in range(40):
    gains, (seen, _), rewards = found * np.exp(0.4 * random.normal(size=(2, 3))), env.reset(), np.zeros(100)
    for k in range(100):
        seen, rewards[k], *_ = env.step(np.clip(gains[0] * (goal - seen[0]) - gains[1] * seen[1], -1, 1))
    best, found = max((best, found), (rewards.sum(), gains), key=lambda pair: pair[0])
print(f"gains {(60 * found).round(1).tolist()} N m: sum of rewards {best:.2f} in 100 steps")
