"""Remote databases: databases of other catalogs, shown under local names as if they were here."""
