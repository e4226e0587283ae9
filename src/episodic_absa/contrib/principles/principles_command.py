"""The arguments of `episodic-absa principles`. The command imports the modules it needs when it runs."""

from episodic_absa.cli.shared_options import AsJson, RunDir


def principles(directory: RunDir, *, as_json: AsJson = False) -> None:
    """Show which principles help, which harm, and which show no effect.

    The run needs a condition that withholds advice at random, such as C2_trial.
    """
    from episodic_absa.analysis import load_run
    from episodic_absa.cli.output import print_json, show
    from episodic_absa.contrib.principles.effects_view import effects_view
    from episodic_absa.errors import RunDirectoryError

    effects = load_run(directory).principle_effects
    if not effects:
        raise RunDirectoryError(
            f"{directory} holds no trial: no condition withheld advice from a sample with gold; run a condition with "
            "advice.withhold, such as C2_trial",
            path=directory,
        )
    if as_json:
        print_json({"principles": [effect.model_dump(mode="json") for effect in effects]})
    else:
        show(effects_view(effects))
