"""`episodic-absa join`: makes one of what `--shard` shared out."""

from pathlib import Path
from typing import Annotated, Final

import typer

_CONFIGS: Final = (".yaml", ".yml")


def join(
    whole: Annotated[
        Path, typer.Argument(metavar="CONFIG|FILE", help="The YAML file of the experiment, or the file to write.")
    ],
    shards: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHARD...", help="The grids that `run --shard` wrote, or the files of `analyze --shard`."
        ),
    ],
) -> None:
    """Join shards: cells into the directory of the whole grid, or the results of `analyze` into one file.

    Cells are checked, copied, and the tables and the report are written. Files are joined in the given order.
    """
    from episodic_absa.cli.output import show_error, shown_path

    if whole.suffix.lower() not in _CONFIGS:
        from episodic_absa.cli.analyze.joined_files import join_files

        join_files(whole, shards)
        typer.echo(f"{shown_path(whole)}: {len(shards)} files joined")
        return
    from episodic_absa.reports.written_results import write_results
    from episodic_absa.runs.config import all_cells, load_experiment
    from episodic_absa.runs.shards import join_grids

    config = load_experiment(whole)
    joined = join_grids(config, shards)
    results = write_results(config.out_dir)
    typer.echo(f"{shown_path(config.out_dir)}: {len(joined)} cells joined")
    typer.echo(f"report   {shown_path(results.report)}")
    if missing := [cell.name for cell in all_cells(config) if not cell.path.is_dir()]:
        show_error(f"{len(missing)} cells are in no shard: {', '.join(missing[:4])}; join them, too")
        raise typer.Exit(1)
