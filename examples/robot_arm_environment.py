"""A robot arm as a Gymnasium environment; gains that reach a point are searched for. `python examples/robot_arm_environment.py`"""

import gymnasium as gym
import numpy as np

import torsor as ts

model, last, at, joints = ts.Model("arm", gravity=(0, 0, -9.81)), None, 0.0, ["base", "shoulder", "elbow"]
for name, axis, length in zip(joints, "zyy", (0.3, 0.5, 0.4)):
    link = model.body(f"{name}-link", inertia=ts.inertia.rod(4 * length, length, axis="x"), at=(at + length / 2, 0, 0))
    joint = model.add(ts.Revolute(name, last or model.ground, link, point=(at, 0, 0), axis=axis))
    model.add(ts.JointForce(f"{name}-motor", joint, model.input(f"{name}-torque") - 0.2 * joint.rate[0]))
    last, at = link, at + length
tip = model.signal("tip", link.position + 0.2 * link.rotation[:, 0])
goal = ts.assemble(model, {"tip[0]": 0.5, "tip[1]": 0.5, "tip[2]": 0.4}).coordinates  # inverse kinematics


class Reach(gym.Env):
    observation_space, action_space = gym.spaces.Box(-np.inf, np.inf, (6,)), gym.spaces.Box(-60.0, 60.0, (3,))
    sim = ts.Simulation(model, formulation="relative", method="rkmk4", step=0.01)

    def reset(self, *, seed=None, options=None):
        self.sim.reset()
        return self.seen(), {}

    def step(self, action):
        self.sim.advance(0.02, **{f"{name}-torque": float(x) for name, x in zip(joints, action)})
        off = self.sim["tip"] - (0.5, 0.5, 0.4)
        return self.seen(), -float(off @ off), False, self.sim.time >= 2.0, {"off": off}

    def seen(self):
        return np.array([*(goal[name] - self.sim.coordinates[name] for name in joints), *self.sim.rates.array])


env, random, best, found = Reach(), np.random.default_rng(1), -np.inf, np.array([40.0, 40, 40, 5, 5, 5])
for _ in range(40):
    gains = found * np.exp(0.4 * random.normal(size=6))
    (seen, _), total, over = env.reset(), 0.0, False
    while not over:
        seen, reward, _, over, told = env.step(np.clip(gains * seen @ np.vstack([np.eye(3), -np.eye(3)]), -60, 60))
        total += reward
    if total > best:
        best, found = total, gains
        print(f"gains {np.round(gains, 1)}: sum of rewards {total:.2f}, tip {np.linalg.norm(told['off']):.3f} m off")
