"""The command line: `episodic-absa`. Beside the commands of contrib the only code that prints or configures logging."""


def main() -> None:
    """Run the command line."""
    # Imported here: a part of contrib uses modules of this package, and `app` uses the part.
    from episodic_absa.cli.app import main as run_command

    run_command()


__all__ = ["main"]
