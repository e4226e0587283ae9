"""`episodic-absa run`: its arguments. The work is done in `run_work`, imported when the command runs."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from episodic_absa.cli.shared_options import AsJson, Config, RayAddress, ShardOf

Limit = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Evaluate only the first N samples per cell (a build still reads all of its split): a run of its own, "
        "with -limitN behind its run_id.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor write the cache of answers; share within this run.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write to DIR/<run_id> instead of the folder that `out` in CONFIG names."),
]
KeepFailures = Annotated[
    bool,
    typer.Option(
        "--keep-failures", help="Leave samples failed that failed in an earlier run; by default they run again."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Send nothing; say how many calls and tokens it would take, at what cost.")
]
Engine = Annotated[
    Literal["local", "ray"] | None,
    typer.Option(
        help="Where the cells run: on this machine, or on a Ray cluster; by default as experiment.engine in "
        "CONFIG says. The results are the same."
    ),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="While it runs, show the first compared pair's difference with a confidence sequence, which stays "
        "valid however often you look and whenever you stop.",
    ),
]


def run(
    config: Config,
    *,
    limit: Limit = None,
    no_cache: NoCache = False,
    out: Out = None,
    keep_failures: KeepFailures = False,
    dry_run: DryRun = False,
    engine: Engine = None,
    ray_address: RayAddress = None,
    shard: ShardOf = None,
    watch: Watch = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment: every condition in every order with every seed.

    What is on disk is continued, never repeated: after Ctrl-C, a crash or kill -9 give the same command again. Samples
    that failed are run again.

    The exit code is 1 if it stopped because too many samples failed or if more than half of the samples of a cell
    failed, 130 after Ctrl-C.
    """
    from episodic_absa.cli.run.run_work import Invocation, run_and_show, show_dry_run

    invocation = Invocation(
        config,
        limit=limit,
        no_cache=no_cache,
        keep_failures=keep_failures,
        out=out,
        engine=engine,
        ray_address=ray_address,
        shard=shard,
        as_json=as_json,
        watch=watch,
    )
    exit_code = show_dry_run(invocation) if dry_run else run_and_show(invocation)
    if exit_code:
        raise typer.Exit(exit_code)
