"""The command line: `episodic-absa`. The only code that prints and the only code that configures logging."""


def main() -> None:
    """Run the command line."""
    # Imported here: a part of contrib uses modules of this package, and `app` uses the part.
    from episodic_absa.cli.app import main as run_command

    run_command()


__all__ = ["main"]
