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
    observation_space, action_space = gym.spaces.Box(-np.inf, np.inf, (2, 3)), gym.spaces.Box(-60.0, 60.0, (3,))
    sim = ts.Simulation(model, formulation="relative", method="rkmk4", step=0.01)
    seen = property(lambda self: np.array([[*self.sim.coordinates.values()], [*self.sim.rates.values()]]))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim.reset()
        return self.seen, {}

    def step(self, action):
        self.sim.advance(0.02, **dict(zip(model.declared_inputs, action.tolist())))
        return self.seen, -float(np.linalg.norm(self.sim["miss"])), False, self.sim.time >= 2.0, {}


env, random, best, found = Reach(), np.random.default_rng(1), -np.inf, np.array([[40.0, 40, 40], [5, 5, 5]])
for _ in range(40):
    gains, (seen, _), total, over = found * np.exp(0.4 * random.normal(size=(2, 3))), env.reset(), 0.0, False
    while not over:
        seen, reward, _, over, _ = env.step(np.clip(gains[0] * (goal - seen[0]) - gains[1] * seen[1], -60, 60))
        total += reward
    best, found = max((best, found), (total, gains), key=lambda pair: pair[0])
print(f"gains {found.round(1).tolist()}: sum of rewards {best:.2f} in 100 steps")
