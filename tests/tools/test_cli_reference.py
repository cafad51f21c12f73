"""The reference of the command line: a section for every command, with its options."""

from __future__ import annotations

from tools.cli_reference import main, render


def test_the_page_is_current() -> None:
    assert main(check=True) == 0, "run python tools/cli_reference.py"


def test_every_command_has_a_section_with_its_own_options_only() -> None:
    text = render()
    assert "\n## compact worker\n" in text and "\n## user list\n" in text
    section = text.split("\n## partitions\n")[1].split("\n## ")[0]
    assert "`--where CONDITION`" in section and "--kerberos" not in section
    assert "(#commands-that-call-a-metastore)" in section
