"""Bad files end with one ModelError that names the element, the file and the line; nothing half-built is returned."""

import re

import pytest

import torsor as ts
from torsor.exchange import read, read_mjcf, read_urdf

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ARM = f"""<robot name="arm">
<link name="base"/>
<link name="upper">{BODY}</link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/></joint>
</robot>
"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<robot name="&c;"/>
"""
OUTSIDE = '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/robot.dtd">\n<robot name="a"/>'


def inertial(mass="1", rest='<inertia ixx="1" iyy="1" izz="1"/>'):
    return ARM.replace(BODY, f'<inertial><mass value="{mass}"/>{rest}</inertial>')


def joint(extra="", kind="revolute", ends='<parent link="base"/><child link="upper"/>', name="shoulder"):
    old = ARM[ARM.index("<joint") : ARM.index("</robot>")]
    return ARM.replace(old, f'<joint name="{name}" type="{kind}">{ends}{extra}</joint>\n')


def more(text):
    return ARM.replace("</robot>", f"{text}\n</robot>")


LOWER = f'<link name="lower">{BODY}</link>'
URDF = {
    "empty file": ("", "is empty"),
    "blank file": (" \n ", "is empty"),
    "not closed": ("<robot><link name='a'>", r":1:\d+: not well-formed XML: no element found"),
    "wrong nesting": ("<robot>\n<link></robot>", r":2:\d+: not well-formed XML: mismatched tag"),
    "no XML": ("robot: {links: []}", ":1:.*not well-formed XML"),
    "binary": ("\x00\x01\x02", ":1:.*not well-formed XML"),
    "entity bomb": (BOMB, ":2: a document type declaration .* is not accepted"),
    "external entity": (OUTSIDE, ":1: a document type declaration .* is not accepted"),
    "undefined entity": ('<robot name="&x;"/>', ":1:.*undefined entity"),
    "unknown encoding": ('<?xml version="1.0" encoding="runes"?><robot/>', ":1: not well-formed XML: unknown encoding"),
    "wrong root": ("<scene version='1.7'/>", ":1: .*<scene>"),
    "no links": ("<robot name='a'/>", ":1: robot 'a': has no links"),
    "xacro": (more('<xacro:include filename="b"/>'), ":5: xacro:include: this is a xacro file; run xacro first"),
    "link without name": (more("<link/>"), ":5: link: <link> needs the attribute 'name'"),
    "two links of one name": (more("<link name='base'/>"), ":5: link 'base': the name is taken already, in line 2"),
    "two joints of one name": (
        more(LOWER + '\n<joint name="shoulder" type="fixed"><parent link="upper"/><child link="lower"/></joint>'),
        ":6: joint 'shoulder': the name is taken already, in line 4",
    ),
    "missing child": (joint(ends='<parent link="base"/>'), ":4: joint 'shoulder': has no <child>"),
    "unknown parent": (
        joint(ends='<parent link="bass"/><child link="upper"/>'),
        ":4: joint 'shoulder': its parent is link 'bass', which does not exist",
    ),
    "unknown child": (
        joint(ends='<parent link="base"/><child link="x"/>'),
        ":4: joint 'shoulder': its child is link 'x', which does not exist",
    ),
    "on itself": (joint(ends='<parent link="base"/><child link="base"/>'), "joint 'shoulder': connects link 'base' to itself"),
    "two roots": (more(LOWER), ":5: link 'lower': a robot has one root link, these have no parent: 'base', 'lower'"),
    "two parents": (
        more('<joint name="second" type="fixed"><parent link="base"/><child link="upper"/></joint>'),
        ":5: joint 'second': link 'upper' is the child of joint 'shoulder' already; URDF has no closed loops",
    ),
    "circle of all": (
        more('<joint name="back" type="fixed"><parent link="upper"/><child link="base"/></joint>'),
        ":5: joint 'back': the joints go round in a circle",
    ),
    "circle beside": (
        more(
            LOWER + '<link name="hand"/>'
            '<joint name="a" type="fixed"><parent link="lower"/><child link="hand"/></joint>'
            '<joint name="b" type="fixed"><parent link="hand"/><child link="lower"/></joint>'
        ),
        ":5: joint 'b': link 'lower' and its parents go round in a circle",
    ),
    "unknown type": (joint(kind="ball"), ":4: joint 'shoulder': unknown type 'ball'. Known: fixed, revolute"),
    "no type": (joint().replace('type="revolute"', ""), ":4: joint 'shoulder': <joint> needs the attribute 'type'"),
    "zero axis": (joint('<axis xyz="0 0 0"/>'), ":4: joint 'shoulder': its axis is zero"),
    "axis of two": (joint('<axis xyz="0 1"/>'), ":4: joint 'shoulder': 'xyz' of <axis> must be 3 finite numbers, got '0 1'"),
    "not a number": (joint('<origin xyz="0 0 up"/>'), ":4: joint 'shoulder': 'xyz' of <origin> must be 3 finite numbers"),
    "infinite": (joint('<origin rpy="0 0 inf"/>'), ":4: joint 'shoulder': 'rpy' of <origin> must be 3 finite numbers"),
    "huge": (joint('<axis xyz="0 0 1e300"/>'), ":4: joint 'shoulder': 'xyz' of <axis> must be 3 finite numbers"),
    "expression": (joint('<origin xyz="${a} 0 0"/>'), "must be 3 finite numbers, got '\\${a} 0 0'"),
    "limit": (joint('<limit lower="low"/>'), ":4: joint 'shoulder': 'lower' of <limit> must be a finite number, got 'low'"),
    "two origins": (joint("<origin/><origin/>"), ":4: joint 'shoulder': has 2 elements <origin>"),
    "negative damping": (joint('<dynamics damping="-1"/>'), ":4: joint 'shoulder': damping must not be negative, got -1.0"),
    "mimics nobody": (joint('<mimic joint="x"/>'), ":4: joint 'shoulder': mimics joint 'x', which does not exist"),
    "mimics itself": (joint('<mimic joint="shoulder"/>'), ":4: joint 'shoulder': mimics itself"),
    "mimic circle": (
        more(
            LOWER + '<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>'
            '<mimic joint="shoulder"/></joint>'
        ).replace('<child link="upper"/>', '<child link="upper"/><mimic joint="elbow"/>'),
        ":4: joints 'shoulder', 'elbow' follow each other in a circle",
    ),
    "no mass": (inertial(rest="").replace('<mass value="1"/>', ""), ":3: link 'upper': its <inertial> .* needs <mass> and"),
    "mass a word": (inertial("heavy"), ":3: link 'upper': 'value' of <mass> must be a finite number, got 'heavy'"),
    "negative mass": (inertial("-1"), ":3: link 'upper': mass must not be negative, got -1.0"),
    "massless": (inertial("0"), ":3: link 'upper' moves .joint 'shoulder'. and has no mass"),
    "no inertia": (
        inertial(rest='<inertia ixx="0" iyy="0" izz="0"/>'),
        ":3: body 'upper': principal moments of inertia must be positive",
    ),
    "impossible": (inertial(rest='<inertia ixx="1" iyy="1" izz="3"/>'), ":3: body 'upper': impossible inertia"),
    "indefinite": (
        inertial(rest='<inertia ixx="1" iyy="1" izz="1" ixy="2"/>'),
        ":3: body 'upper': principal moments of inertia must be positive",
    ),
    "missing moment": (inertial(rest='<inertia ixx="1" iyy="1"/>'), ":3: link 'upper': <inertia> needs the attribute 'izz'"),
    "massless between": (
        more(
            f'<link name="a"/><link name="b">{BODY}</link><link name="c">{BODY}</link>'
            '<joint name="ja" type="revolute"><parent link="upper"/><child link="a"/></joint>'
            '<joint name="jb" type="revolute"><parent link="a"/><child link="b"/></joint>'
            '<joint name="jc" type="revolute"><parent link="a"/><child link="c"/></joint>'
        ),
        ":5: link 'a' moves and has no mass; it carries 'b', 'c'",
    ),
    "no such joint": (
        more(
            f'<link name="a"/><link name="b">{BODY}</link>'
            '<joint name="ja" type="revolute"><parent link="upper"/><child link="a"/></joint>'
            '<joint name="jb" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint>'
        ),
        ":5: joints 'ja' .hinge., 'jb' .hinge. follow each other without mass in between",
    ),
}  # fmt: skip


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(("text", "message"), URDF.values(), ids=URDF)
def test_bad_urdf_is_refused_with_element_and_line(text, message, tmp_path):
    file = write(tmp_path / "robot.urdf", text)
    with pytest.raises(ts.ModelError, match=f"^{re.escape(str(file))}.*{message}") as error:
        read_urdf(file)
    assert "\n" not in str(error.value)


def test_the_sound_file_that_the_others_are_made_of_is_read(tmp_path):
    assert [b.name for b in read_urdf(write(tmp_path / "arm.urdf", ARM)).model.bodies] == ["upper"]


@pytest.mark.parametrize("reader", [read, read_urdf, read_mjcf])
def test_files_that_are_not_there(reader, tmp_path):
    with pytest.raises(ts.ModelError, match="nowhere.xml: there is no such file"):
        reader(tmp_path / "nowhere.xml")
    with pytest.raises(ts.ModelError, match="is a folder"):
        reader(tmp_path)
    with pytest.raises(ts.ModelError, match="give the path of a file, got None"):
        reader(None)


OPTIONS = {
    "base": ({"base": "floating"}, "base must be 'fixed' or 'free', got 'floating'"),
    "packages": ({"packages": "here"}, "packages must be folders by name"),
    "start of nobody": ({"start": {"elbow": 1}}, "start: there is no moving joint 'elbow'. Known: shoulder."),
    "start of two": ({"start": {"shoulder": (1, 2)}}, "start of joint 'shoulder' must be 1 numbers"),
    "start a word": (
        {"start_rate": {"shoulder": "fast"}},
        "start_rate of joint 'shoulder' must be 1 numbers, got 'fast'",
    ),
    "start a list": ({"start": [1]}, "start must be values by joint name"),
    "gravity": ({"gravity": (0, 0)}, "gravity must be 3 numbers"),
    "massless base": ({"base": "free"}, ":2: link 'base' moves and has no mass; .* read it with base='fixed'"),
}


@pytest.mark.parametrize(("options", "message"), OPTIONS.values(), ids=OPTIONS)
def test_bad_options(options, message, tmp_path):
    with pytest.raises(ts.ModelError, match=message):
        read_urdf(write(tmp_path / "arm.urdf", ARM), **options)


def test_unknown_options_and_roots_of_read(tmp_path):
    with pytest.raises(ts.OptionError, match="unknown option 'bass' for a <robot> file. Known: base"):
        read(write(tmp_path / "arm.urdf", ARM), bass="free")
    with pytest.raises(
        ts.ModelError, match="root element is <scene>; known are .*<mujoco> .MJCF., <sdf> .SDF., <robot> .URDF."
    ):
        read(write(tmp_path / "arm.urdf", "<scene/>"))


def world(body, after=""):
    return f"<mujoco>\n<worldbody>\n{body}\n</worldbody>\n{after}</mujoco>"


GEOM = '<geom type="box" size="1 1 1"/>'
HINGES = '<joint name="h{0}" axis="{1}" pos="{2}"/>'
MJCF = {
    "empty file": ("", "is empty"),
    "not closed": ("<mujoco>", ":1:.*not well-formed XML"),
    "entity bomb": (BOMB.replace("robot", "mujoco"), ":2: a document type declaration"),
    "wrong root": (ARM, "an MJCF file has the root element <mujoco>, got <robot>"),
    "unknown element": (world("<bod/>"), ":3: MuJoCo refuses it: .*unrecognized element.*bod"),
    "not a number": (world('<body pos="a b c"/>'), "MuJoCo refuses it"),
    "twice the same": (
        world(f'<body name="a">{GEOM}</body><body name="a">{GEOM}</body>'),
        "MuJoCo refuses it: .*repeated name",
    ),
    "massless": (world('<body name="a"><joint/></body>'), ":3: MuJoCo refuses it: .*mass and inertia of moving bodies"),
    "nan": (
        world(f'<body name="a" pos="nan 0 0"><freejoint/>{GEOM}</body>'),
        ":3: body 'a': its numbers must be finite",
    ),
    "missing include": (world("<include file='no.xml'/>"), ":3: include: there is no file"),
    "missing mesh": (
        world('<body><geom type="mesh" mesh="m"/></body>', '<asset><mesh name="m" file="m.stl"/></asset>'),
        "inertia follows from the mesh .m.stl., and there is no file",
    ),
    "unknown body": (
        world(f'<body name="a"><freejoint/>{GEOM}</body>', '<equality><weld body1="a" body2="b"/></equality>'),
        "MuJoCo refuses it: .*unknown element .b. in equality",
    ),
    "hinges on one line": (
        world(f'<body name="a">{HINGES.format(1, "1 0 0", "0 0 0")}{HINGES.format(2, "1 0 0", "1 0 0")}{GEOM}</body>'),
        ":3: joints 'h1' .hinge., 'h2' .hinge. follow each other without mass in between",
    ),
    "hinges apart": (
        world(
            f"<body>{''.join(HINGES.format(k, a, f'0 0 {k}') for k, a in enumerate(('1 0 0', '0 1 0', '0 0 1', '1 0 0')))}"
            f"{GEOM}</body>"
        ),
        ":3: joints 'h0' .hinge., 'h1' .hinge., 'h2' .hinge., 'h3' .hinge. follow each other without mass",
    ),
}


@pytest.mark.parametrize(("text", "message"), MJCF.values(), ids=MJCF)
def test_bad_mjcf_is_refused(text, message, tmp_path):
    file = write(tmp_path / "robot.xml", text)
    with pytest.raises(ts.ModelError, match=f"^{re.escape(str(file))}.*{message}") as error:
        read_mjcf(file)
    assert "\n" not in str(error.value)


def test_an_entity_bomb_in_an_included_file_is_refused(tmp_path):
    write(tmp_path / "part.xml", BOMB)
    with pytest.raises(ts.ModelError, match="part.xml:2: a document type declaration"):
        read_mjcf(write(tmp_path / "robot.xml", world("<include file='part.xml'/>")))


def test_without_mujoco_one_clear_line(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ts.ModelError, match=r"pip install torsor\[mjcf\]$"):
        read_mjcf(write(tmp_path / "robot.xml", world("")))
