"""Models with switches, as text."""

from __future__ import annotations

from itertools import product

# Torsion of a mesh of gears, elastic on both flanks and loose between them.
GEAR = """
format = 1
name = "gear"
time_unit = "s"
[parameters]
inertia = { unit = "kg*m^2", minimum = 0, open_minimum = true, default = 1e-3 }
stiffness = { unit = "N*m/rad", minimum = 0, default = 1e4 }
damping = { unit = "N*m*s/rad", minimum = 0, default = 0.01 }
backlash = { unit = "rad", minimum = 0, default = 1e-3 }
torque = { unit = "N*m", default = 2 }
ripple = { unit = "N*m", default = 3 }
rate = { unit = "rad/s", minimum = 0, open_minimum = true, default = 300 }
[states]
d = { unit = "rad", initial = "backlash", scale = "1e-3" }
w = { unit = "rad/s", initial = "0", scale = "1" }
[switches.mesh]
values = ["back", "loose", "drive"]
start = { drive = "d >= backlash", back = "d <= -backlash", loose = "true" }
[definitions.flank]
value = "where(mesh == drive, d - backlash, where(mesh == back, d + backlash, 0))"
unit = "rad"
[derivatives]
d = "w"
w = "(torque + ripple*cos(rate*t) - stiffness*flank - damping*w)/inertia"
[[events]]
name = "meet"
in = "mesh == loose"
when = "d - backlash"
direction = "rising"
set = { mesh = "drive" }
[[events]]
name = "meet_back"
in = "mesh == loose"
when = "d + backlash"
direction = "falling"
set = { mesh = "back" }
[[events]]
name = "lose"
in = "mesh == drive"
when = "d - backlash"
direction = "falling"
set = { mesh = "loose" }
[[events]]
name = "lose_back"
in = "mesh == back"
when = "d + backlash"
direction = "rising"
set = { mesh = "loose" }
[outputs]
rattle = { count = "meet" }
rattle_back = { count = "meet_back" }
d_end = { final = "d", unit = "rad" }
w_end = { final = "w", unit = "rad/s" }
loose = { share = "mesh == loose" }
power = { mean = "damping*w**2", unit = "W" }
[holds.play]
condition = "mesh != loose or abs(d) <= 1.01*backlash"
meaning = "the teeth passed through each other"
"""

# Two modes of a tube and one contact: a gap with a penalty, and friction whose limit varies.
JENKINS = """
format = 1
name = "jenkins"
time_unit = "1"
[parameters]
omega = {}
mu = { default = 0.3 }
kn = { default = 400 }
kt = { default = 300 }
gap = { default = 0.05 }
[states]
y = { initial = "0" }
yv = { initial = "0" }
z = { initial = "0" }
zv = { initial = "0" }
grip = { initial = "0" }
[switches.contact]
values = ["open", "stick", "plus", "minus"]
start = "open"
[definitions]
normal = { value = "where(contact == open, 0, kn*(y - gap))" }
side = { value = "where(contact == plus, 1, where(contact == minus, -1, 0))" }
friction = { value = "where(contact == stick, grip, side*mu*normal)" }
slip_speed = { value = "where(side == 0, 0, zv - side*mu*kn*yv/kt)" }
[derivatives]
y = "yv"
yv = "sin(omega*t) - 2*0.02*2*yv - 4*y - normal"
z = "zv"
zv = "1.5*cos(1.3*omega*t) - 2*0.02*3.1*zv - 9.61*z - friction"
grip = "where(contact == stick, kt*zv, 0)"
[[events]]
name = "part"
in = "contact != open"
when = "y - gap"
direction = "falling"
set = { contact = "open", grip = "0" }
[[events]]
name = "touch"
in = "contact == open"
when = "y - gap"
direction = "rising"
set = { contact = "stick", grip = "0" }
[[events]]
name = "slip_plus"
in = "contact == stick"
when = "grip - mu*kn*(y - gap)"
direction = "rising"
at_entry = true
set = { contact = "plus" }
[[events]]
name = "slip_minus"
in = "contact == stick"
when = "grip + mu*kn*(y - gap)"
direction = "falling"
at_entry = true
set = { contact = "minus" }
[[events]]
name = "grip_plus"
in = "contact == plus"
when = "kt*zv - mu*kn*yv"
direction = "falling"
set = { contact = "stick", grip = "mu*kn*(y - gap)" }
[[events]]
name = "grip_minus"
in = "contact == minus"
when = "kt*zv + mu*kn*yv"
direction = "rising"
set = { contact = "stick", grip = "-mu*kn*(y - gap)" }
[outputs]
y_end = { final = "y" }
z_end = { final = "z" }
dissipation = { mean = "friction*slip_speed" }
touches = { count = "touch" }
slips = { count = "slip_plus" }
[holds.pressed]
condition = "contact == open or y >= gap"
"""

CHAIN_HEAD = """
format = 1
name = "chain"
time_unit = "1"
[parameters]
coupling = { default = 1 }
pull_stiffness = { default = 0.3 }
speed = { default = 0.1 }
static = { default = 1 }
kinetic = { default = 0.7 }
"""
STATES = (*"xyz", *"uvw")  # positions and speeds of three blocks


def chain(*, by_modes: bool) -> str:
    """Three blocks joined by springs, whose contacts are three switches or eight modes."""
    pulls = ["y - x", "x - 2*y + z", "y - z"]
    text = CHAIN_HEAD + "[states]\n"
    for i, name in enumerate(STATES):
        initial = f"0.1*sin({7 * i})" if i < 3 else "0"
        text += f'{name} = {{ initial = "{initial}" }}\n'
    text += "[definitions]\n"
    for i, pull in enumerate(pulls):
        position = STATES[i]
        force = f"coupling*({pull}) + pull_stiffness*(speed*t - {position})"
        text += f'pull_{i} = {{ value = "{force}" }}\n'
    combinations = list(product((0, 1), repeat=3))  # 1: slips
    names = {each: f"m{''.join(map(str, each))}" for each in combinations}

    def rates(slips: tuple[int, ...]) -> str:
        lines = [f'{STATES[i]} = "{STATES[i + 3]}"\n' for i in range(3) if slips[i]]
        lines += [f'{STATES[i + 3]} = "pull_{i} - kinetic"\n' for i in range(3) if slips[i]]
        return "".join(lines)

    if by_modes:
        text += "".join(f"[modes.{names[each]}]\n{rates(each)}" for each in combinations)
    else:
        for i in range(3):
            text += f'[switches.contact_{i}]\nvalues = ["stick", "slip"]\n'
        text += "[derivatives]\n"
        for i in range(3):
            text += f'{STATES[i]} = "where(contact_{i} == stick, 0, {STATES[i + 3]})"\n'
            text += f'{STATES[i + 3]} = "where(contact_{i} == stick, 0, pull_{i} - kinetic)"\n'

    def event(name: str, when: str, lines: list[str]) -> str:
        return f'[[events]]\nname = "{name}"\nwhen = "{when}"\n' + "\n".join(lines) + "\n"

    for i in range(3):
        speed = STATES[i + 3]
        release = ('direction = "rising"', "at_entry = true")
        arrest = ('direction = "falling"',)
        if not by_modes:
            text += event(
                f"release_{i}",
                f"pull_{i} - static",
                [*release, f'in = "contact_{i} == stick"', f'set = {{ contact_{i} = "slip" }}'],
            )
            text += event(
                f"arrest_{i}",
                speed,
                [
                    *arrest,
                    f'in = "contact_{i} == slip"',
                    f'set = {{ contact_{i} = "stick", {speed} = "0" }}',
                ],
            )
            continue
        for each in combinations:
            other = tuple(1 - s if k == i else s for k, s in enumerate(each))
            here, there = names[each], names[other]
            if each[i]:
                text += event(
                    f"arrest_{i}_{here}",
                    speed,
                    [*arrest, f'in = "{here}"', f'then = "{there}"', f'set = {{ {speed} = "0" }}'],
                )
            else:
                text += event(
                    f"release_{i}_{here}",
                    f"pull_{i} - static",
                    [*release, f'in = "{here}"', f'then = "{there}"'],
                )
    slips = {i: f"contact_{i} == slip" for i in range(3)}
    if by_modes:
        slips = {i: " or ".join(names[e] for e in combinations if e[i]) for i in range(3)}
    text += "[outputs]\n" + "".join(f'{s}_end = {{ final = "{s}" }}\n' for s in STATES)
    text += "".join(f'share_{i} = {{ share = "{slips[i]}" }}\n' for i in range(3))
    return text
