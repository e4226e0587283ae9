"""`python -m episodic_absa` is `episodic-absa`."""

from episodic_absa.cli import main

if __name__ == "__main__":
    main()
