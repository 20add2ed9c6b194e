"""A robot arm as a Gymnasium environment; gains that reach a point are searched for. `python examples/robot_arm_environment.py`"""

import gymnasium as gym
import numpy as np

import torsor as ts

model, last, at, joints = ts.Model("arm", gravity=(0, 0, -9.81)), None, 0.0, []
for name, axis, length in zip(("base", "shoulder", "elbow"), "zyy", (0.3, 0.5, 0.4)):
    link = model.body(f"{name}-link", inertia=ts.inertia.rod(4 * length, length, axis="x"), at=(at + length / 2, 0, 0))
    joints.append(model.add(ts.Revolute(name, last or model.ground, link, point=(at, 0, 0), axis=axis)))
    model.add(ts.JointForce(f"{name}-motor", joints[-1], model.input(f"{name}-torque") - 0.2 * joints[-1].rate[0]))
    last, at = link, at + length
model.signal("tip", link.position + 0.2 * link.rotation[:, 0])
model.signal("seen", [j.coordinate[0] for j in joints] + [j.rate[0] for j in joints])
goal = list(ts.assemble(model, {"tip[0]": 0.5, "tip[1]": 0.5, "tip[2]": 0.4}).coordinates.values())  # of the joints


class Reach(gym.Env):
    observation_space, action_space = gym.spaces.Box(-np.inf, np.inf, (6,)), gym.spaces.Box(-60.0, 60.0, (3,))
    sim = ts.Simulation(model, formulation="relative", method="rkmk4", step=0.01)

    def reset(self, *, seed=None, options=None):
        self.sim.reset()
        return self.sim["seen"], {}

    def step(self, action):
        self.sim.advance(0.02, **dict(zip(model.declared_inputs, action.tolist())))
        off = self.sim["tip"] - (0.5, 0.5, 0.4)
        return self.sim["seen"], -float(off @ off), False, self.sim.time >= 2.0, {"off": np.linalg.norm(off)}


env, random, best, found = Reach(), np.random.default_rng(1), -np.inf, np.array([[40.0, 40, 40], [5, 5, 5]])
for _ in range(40):
    gains = found * np.exp(0.4 * random.normal(size=(2, 3)))
    (seen, _), total, over = env.reset(), 0.0, False
    while not over:
        angles, rates = seen.reshape(2, 3)
        seen, reward, _, over, told = env.step(np.clip(gains[0] * (goal - angles) - gains[1] * rates, -60, 60))
        total += reward
    if total > best:
        best, found = total, gains
        print(f"gains {np.round(gains, 1).tolist()}: sum of rewards {total:.2f}, tip {told['off']:.3f} m off")
