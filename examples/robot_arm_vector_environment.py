"""A thousand robot arms as one Gymnasium vector environment. `python examples/robot_arm_vector_environment.py`"""

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


class Reach(gym.vector.VectorEnv):
    def __init__(self, count):
        self.num_envs, self.sims = (
            count,
            ts.Simulations(model, count, formulation="relative", method="rkmk4", step=0.01),
        )
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (2, 3), float)
        self.single_action_space = gym.spaces.Box(-1, 1, (3,), float)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, count)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, count)

    def observation(self):
        return np.stack([self.sims["coordinate"], self.sims["rate"]], axis=1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sims.reset()
        return self.observation(), {}

    def step(self, actions):
        self.sims.reset(self.sims.time >= 2.0)  # those that ended with the step before begin again
        self.sims.advance(0.02, **dict(zip(model.declared_inputs, 60.0 * actions.T)))
        none = np.zeros(self.num_envs, bool)
        return self.observation(), -np.linalg.norm(self.sims["miss"], axis=1), none, self.sims.time >= 2.0, {}


env, random = Reach(1000), np.random.default_rng(1)
gains = np.array([[40.0, 40, 40], [5, 5, 5]]) / 60 * np.exp(0.8 * random.normal(size=(1000, 2, 3)))
(seen, _), rewards = env.reset(), np.zeros(1000)
for _ in range(100):
    seen, reward, *_ = env.step(np.clip(gains[:, 0] * (goal - seen[:, 0]) - gains[:, 1] * seen[:, 1], -1, 1))
    rewards += reward
print(f"best of 1000 gains {(60 * gains[rewards.argmax()]).round(1).tolist()} N m: {rewards.max():.2f} in 100 steps")
