"""A ball that bounces infinitely often within a finite time, and then lies still.

Dropped from the height h with restitution e it touches the ground at

    t₁ = √(2h/g),    t_{n+1} = t_n + 2 t₁ eⁿ,     t_∞ = t₁ (1 + e)/(1 − e)                                          (1)

The contact is one element. When rebounds become too low to be resolved, the rest of the series is summed up and the
contact closes at t_∞: a constraint from then on, whose multiplier is the weight.

    python examples/bouncing_ball.py
"""

import numpy as np

import torsor as ts

HEIGHT, RADIUS, G = 1.0, 0.05, 9.81


def ball(restitution):
    model = ts.Model("ball", gravity=(0, 0, -G))
    at = (0, 0, HEIGHT + RADIUS)
    body = model.body("ball", inertia=ts.inertia.sphere(0.2, RADIUS), at=at)
    model.add(ts.Contact("floor", model.ground, body, radius=RADIUS, plane=(0, 0, 0), restitution=restitution))
    return model


def main():
    first = np.sqrt(2 * HEIGHT / G)
    print(
        f"{'e':>4}{'bounces':>9}{'lies still [s]':>16}{'exact [s]':>14}{'worst bounce [s]':>18}{'energy lost [J]':>17}"
    )
    for e in (0.0, 0.5, 0.8, 0.9):
        data = ts.simulate(ball(e), 10.0, outputs=10)
        times = data.event_time.values
        bounces = first + 2 * first * np.concatenate([[0.0], np.cumsum(e ** np.arange(1, len(times) - 1))])
        worst = np.abs(times[:-1] - bounces[: len(times) - 1]).max(initial=0.0)
        rest, lost = first * (1 + e) / (1 - e), -data.attrs["energy_of_events"]
        print(f"{e:4.1f}{len(times):9d}{times[-1]:16.10f}{rest:14.10f}{worst:18.1e}{lost:17.10f}")
        assert abs(times[-1] - rest) < 1e-8
    weight = float(data.multiplier.sel(constraint="floor[0]")[-1])
    print(f"The contact force at the end is {weight:.9f} N, the weight {0.2 * G:.9f} N; m g h = {0.2 * G * HEIGHT} J.")


if __name__ == "__main__":
    main()
