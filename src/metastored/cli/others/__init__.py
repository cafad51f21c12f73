"""Commands for other metastores: `remotes`, `import`, `export`."""
