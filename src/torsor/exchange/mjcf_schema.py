"""Attributes of MJCF elements that torsor knows: each is simulated, or named in the report, or changes no motion.

Only elements of which something is simulated are in it; the report lists others as left out. An attribute that is not
here is of a newer version of MuJoCo, and may change the motion.
"""

KNOWN = {
    "option":
        "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity impratio integrator "
        "iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations "
        "noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep "
        "tolerance viscosity wind",
    "flag":
        "actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent frictionloss "
        "fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override passive refsafe sensor sleep "
        "speculative spring warmstart",
    "body":
        "axisangle childclass euler fuse gravcomp mocap name pos quat simple sleep user xyaxes zaxis",
    "inertial":
        "axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis",
    "joint":
        "active actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping frictionloss group joint1 "
        "joint2 limited margin name polycoef pos range ref solimp solimpfriction solimplimit solref solreffriction solreflimit "
        "springdamper springref springyield stiffness type user",
    "freejoint":
        "align group name",
    "geom":
        "adhesion axisangle castshadow class conaffinity condim contype density euler fitscale fluidcoef fluidshape friction "
        "fromto gap group hfield margin mass material mesh name pos priority quat rgba shellinertia size solimp solmix solref "
        "surfacevel type user xyaxes zaxis",
    "connect":
        "active anchor body1 body2 class name site1 site2 solimp solref",
    "weld":
        "active anchor body1 body2 class name relpose site1 site2 solimp solref torquescale",
    "equality":
        "active solimp solref",
    "general":
        "actdim actearly actlimited actrange armature biasprm biastype body class cranklength cranksite ctrllimited ctrlrange "
        "damping delay dynprm dyntype ffrange forcelimited forcerange gainprm gaintype gear group inheritrange input interp "
        "joint jointinparent lengthrange name nsample refsite site slidersite tendon user velrange",
    "motor":
        "armature class cranklength cranksite ctrllimited ctrlrange damping delay forcelimited forcerange gear group interp "
        "joint jointinparent lengthrange name nsample refsite site slidersite tendon user",
    "position":
        "armature class cranklength cranksite ctrllimited ctrlrange damping dampratio delay forcelimited forcerange gear group "
        "inheritrange interp joint jointinparent kp kv lengthrange name nsample refsite site slidersite tendon timeconst user",
    "velocity":
        "armature class cranklength cranksite ctrllimited ctrlrange damping delay forcelimited forcerange gear group interp "
        "joint jointinparent kv lengthrange name nsample refsite site slidersite tendon user",
}  # fmt: skip
LEFT_OUT_SECTIONS = ("tendon", "sensor", "keyframe", "contact")  # sections whose elements are left out as a whole


def unknown_attributes(places):
    """Elements of a model's files with the attributes that are not known, as pairs."""
    known = {tag: set(words.split()) for tag, words in KNOWN.items()}
    known["worldbody"] = known["body"]
    return [
        (element, attribute)
        for section, element in places.every
        if section not in LEFT_OUT_SECTIONS and element.tag in known
        for attribute in element.attributes
        if attribute not in known[element.tag]
    ]
