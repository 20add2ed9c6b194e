"""A pole on a cart as a Gymnasium environment, balanced by state feedback. `python examples/cart_pole_environment.py`"""

import gymnasium as gym
import numpy as np

import torsor as ts

model = ts.Model("cart-pole", gravity=(0, 0, -9.81))
cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
pole = model.body("pole", inertia=ts.inertia.rod(0.2, 1.0, axis="z"), at=(0, 0, 0.5))
track = model.add(ts.Prismatic("track", model.ground, cart, axis="x"))
hinge = model.add(ts.Revolute("hinge", cart, pole, point=(0, 0, 0), axis="y"))
model.add(ts.JointForce("motor", track, model.input("force")))
model.signal("seen", [track.coordinate[0], hinge.coordinate[0], track.rate[0], hinge.rate[0]])


class CartPole(gym.Env):
    observation_space, action_space = gym.spaces.Box(-np.inf, np.inf, (4,), float), gym.spaces.Box(-1, 1, (1,), float)

    def __init__(self):
        self.sim = ts.Simulation(model, method="rkmk4", step=0.005)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim.reset({"coordinates": self.np_random.uniform(-0.2, 0.2, 2)})
        return self.sim["seen"], {}

    def step(self, action):
        self.sim.advance(0.02, force=20.0 * float(action[0]))
        fallen = abs(self.sim["hinge.coordinate"]) > 0.8
        return self.sim["seen"], float(not fallen), fallen, self.sim.time >= 10.0, {}


env, gains = CartPole(), np.array([0.05, 1.5, 0.1, 0.35])
for episode in range(5):
    (state, _), total, done = env.reset(seed=episode), 0.0, False
    while not done:
        state, reward, fallen, over, _ = env.step(np.clip([gains @ state], -1, 1))
        total, done = total + reward, fallen or over
    print(f"episode {episode}: {total:.0f} steps of 0.02 s, ends at {np.round(state, 4)}")
