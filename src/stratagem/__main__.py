"""The command line as a module: `python -m stratagem`."""

from stratagem.cli.main import main

if __name__ == "__main__":
    main()
