"""`sweep doctor`: what this machine can do."""

from __future__ import annotations

from dataclasses import asdict

import typer

from sweep.cli.app import command
from sweep.cli.parameters import Json
from sweep.cli.printing import print_json, print_table


@command("sweep doctor", "sweep doctor --json")
def doctor(as_json: Json = False) -> None:
    """Check what this machine can compute, and how to fix problems.

    Checks versions, processor, compiler, kernel cache, GPU, and conflicting packages. The exit
    status is 0 if the machine can compute, and 3 if it cannot.
    """
    from sweep.cli import doctor as machine

    findings, versions = machine.examine(), machine.versions()
    can_compute = not any(finding.stops for finding in findings)
    if as_json:
        entries = [asdict(finding) for finding in findings]
        print_json({"can_compute": can_compute, "versions": versions, "findings": entries})
    else:
        print_table([*versions.items(), *((each.subject, each.found) for each in findings)])
        for finding in filter(lambda each: each.problem, findings):
            print(f"\n{finding.subject}: {finding.problem}")
        print("\nthis machine can compute" if can_compute else "\nthis machine cannot compute")
    raise typer.Exit(0 if can_compute else 3)
