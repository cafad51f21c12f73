"""Commands to look after the database of a server: `backup`, `restore`, `migrate`, `relocate`."""
