"""Sensors of MJCF files as signals of the model: encoders, inertial measurement units, poses and velocities of frames.

    gyro           R_fᵀ ω                                   ω in axes of the body, R_f rotation of the frame in the body   (1)
    velocimeter    (R R_f)ᵀ ẋ                                                                                            (2)
    accelerometer  (R R_f)ᵀ (ẍ − g),   ẍ = ẍ_c + R (ω̇ × r + ω × (ω × r)),   r from the centre of mass                    (3)

Noise, delays and cutoffs are not part of the signals.
"""

import casadi as ca

from ..free_names import free_name, legal

VARIABLES = {  # of results and their dimensions: signals must have other names
    "acceleration", "angular_acceleration", "angular_velocity", "axis", "body", "column", "constraint", "coordinate",
    "coordinate_acceleration", "energy", "event", "event_name", "event_time", "joint", "joint_coordinate", "kinetic_energy",
    "multiplier", "position", "position_drift", "potential_energy", "rate", "reaction_force", "reaction_torque", "rotation", "row",
    "run", "time", "velocity", "velocity_drift", "work",
}  # fmt: skip
COLUMNS = {"FRAMEXAXIS": 0, "FRAMEYAXIS": 1, "FRAMEZAXIS": 2}


def add_sensors(reader, imported, lengths, prefix=""):
    """Add a signal for each sensor that torsor knows; others are reported."""
    m, mj = reader.m, reader.mj
    for k in range(m.nsensor):
        name, where = prefix + sensor_name(reader, k), reader._where(reader.spec.sensors, k)
        kind = mj.mjtSensor(int(m.sensor_type[k])).name.removeprefix("mjSENS_")
        found = sensor_signal(reader, imported, lengths, k, kind)
        if found is None:
            message = f"there is no signal for a sensor of kind {kind.lower()}, or for what it measures"
            reader.out.note("unsupported", f"sensor {name!r}", message, where)
            continue
        given = legal(name) or f"sensor_{k}"
        own = free_name(imported.model, f"{given}_sensor" if given in VARIABLES else given, "sensor")
        if own != name:
            reader.out.note("renamed", f"sensor {name!r}", f"its signal is {own!r}", where)
        imported.model.signal(own, found)


def sensor_name(reader, k):
    return reader.m.sensor(k).name or f"sensor_{k}"


def sensor_signal(reader, imported, lengths, k, kind):
    """The expression of one sensor; None if there is none."""
    m = reader.m
    number = int(m.sensor_objid[k])
    if kind == "CLOCK":
        return imported.model.time
    if kind in ("JOINTPOS", "JOINTVEL"):
        joint = imported.joints.get(reader.joints[number])
        if joint is None or joint.coordinate is None:
            return None
        ref = float(m.qpos0[m.jnt_qposadr[number]])
        return joint.coordinate + ref if kind == "JOINTPOS" else joint.rate
    if kind in ("TENDONPOS", "TENDONVEL"):
        length = lengths[number]
        return None if length is None else length.length if kind == "TENDONPOS" else length.rate
    if int(m.sensor_refid[k]) >= 0:
        return None
    frame = frame_of(reader, imported, int(m.sensor_objtype[k]), number)
    return None if frame is None else frame_signal(imported.model, kind, *frame)


def frame_of(reader, imported, kind, number):
    """Body, place and rotation in it of a site or a body of the file; None for anything else and what does not move."""
    m, objects = reader.m, reader.mj.mjtObj
    if kind == int(objects.mjOBJ_SITE):
        home = imported.sites.get(reader.site_name(number))
        at, R = (None, None) if home is None else (home.at, home.rotation)
    elif kind in (int(objects.mjOBJ_BODY), int(objects.mjOBJ_XBODY)):
        home = imported.links.get(reader.prefix + reader.bodies[number])
        at, R = (None, None) if home is None else (home.at, home.rotation)
        if home is not None and kind == int(objects.mjOBJ_BODY):
            at, R = at + R @ m.body_ipos[number], R @ reader._matrix(m.body_iquat[number])
    else:
        return None
    if home is None or home.body == imported.model.ground.name:
        return None
    return imported.model[home.body], at, R


def frame_signal(model, kind, body, at, R_f):
    """A sensor that measures a frame fixed in a body."""
    R = body.rotation @ R_f
    w = body.angular_velocity
    if kind == "GYRO":
        return ca.DM(R_f).T @ w  # (1)
    if kind == "VELOCIMETER":
        return R.T @ body.velocity_of(at)  # (2)
    if kind in ("ACCELEROMETER", "FRAMELINACC"):
        r = ca.DM(at) - body.center
        inner = ca.cross(body.angular_acceleration, r) + ca.cross(w, ca.cross(w, r))
        a = body.acceleration + body.rotation @ inner - model.gravity
        return R.T @ a if kind == "ACCELEROMETER" else a  # (3)
    if kind in COLUMNS:
        return R[:, COLUMNS[kind]]
    known = {
        "FRAMEPOS": lambda: body.point(at),
        "FRAMELINVEL": lambda: body.velocity_of(at),
        "FRAMEANGVEL": lambda: body.rotation @ w,
        "FRAMEANGACC": lambda: body.rotation @ body.angular_acceleration,
    }
    return known[kind]() if kind in known else None
