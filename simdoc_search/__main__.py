"""`python -m simdoc_search`."""

from simdoc_search.cli import main

if __name__ == "__main__":  # worker processes import this module too
    main()
