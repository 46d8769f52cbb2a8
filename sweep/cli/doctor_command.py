"""`sweep doctor`: what this machine can do."""

from __future__ import annotations

from dataclasses import asdict

import typer

from sweep.cli.app import Json, command
from sweep.cli.printing import print_json, print_table


@command("sweep doctor", "sweep doctor --json")
def doctor(as_json: Json = False) -> None:
    """Check what this machine can compute, and how to fix problems.

    Checks versions, processor, compiler, kernel cache, GPU, and conflicting packages. The exit
    status is 0 if the machine can compute, and 3 if it cannot.
    """
    from sweep.doctor import examine, versions

    found = examine()
    able = not any(finding.stops for finding in found)
    if as_json:
        entries = [asdict(finding) for finding in found]
        print_json({"can_compute": able, "versions": versions(), "findings": entries})
    else:
        print_table([*versions().items(), *((each.subject, each.found) for each in found)])
        for finding in filter(lambda each: each.problem, found):
            print(f"\n{finding.subject}: {finding.problem}")
        print("\nthis machine can compute" if able else "\nthis machine cannot compute")
    raise typer.Exit(0 if able else 3)
