"""The arguments of `episodic-absa feedback`. The command imports the modules it needs when it runs."""

from typing import Annotated

import typer

EXIT_REFUSED = 1


def feedback(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A store file, postgresql://..., or the directory of a finished cell."),
    ],
    uid: Annotated[str | None, typer.Argument(metavar="UID", help="The sample whose result is judged.")] = None,
    verdict: Annotated[
        str | None, typer.Argument(metavar="right|wrong|unsure", help="What you say about the result.")
    ] = None,
    *,
    aspect: Annotated[
        str | None, typer.Option("--aspect", metavar="TERM", help="Judge one target instead of the whole result.")
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help='Read verdicts from stdin, one {"uid": ..., "verdict": ..., "aspect": ...} per line.'
        ),
    ] = False,
) -> None:
    """Say whether a result is right, so that later samples learn from it.

    The verdict goes into the store. It holds no label and no text, and beats what referee and risks say. A repeated
    verdict changes nothing; another one replaces it. With --json every verdict is answered by one line once it is on
    disk; the exit code is 1 if a line was refused.
    """
    from episodic_absa.cli.feedback.given_feedback import read_and_give, store_of
    from episodic_absa.cli.output import printable, show_error
    from episodic_absa.memory.feedback import give_feedback

    if as_json and (uid is not None or aspect is not None):
        raise typer.BadParameter("--json reads uid, verdict and aspect from stdin; leave them out of the command")
    if not as_json and (uid is None or verdict is None):
        raise typer.BadParameter("give UID and right, wrong or unsure, or --json to read verdicts from stdin")
    with store_of(target) as store:
        if as_json:
            if problem := read_and_give(store):
                show_error(problem)
                raise typer.Exit(EXIT_REFUSED)
            return
        given = give_feedback(store, uid or "", verdict or "", aspect)
    about = f"target {printable(given.aspect)} of {printable(given.uid)}" if given.aspect else printable(given.uid)
    typer.echo(f"{given.verdict}: {about}" if given.is_new else f"{given.verdict}: {about} (it stood there already)")
