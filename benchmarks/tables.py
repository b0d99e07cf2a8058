"""Tables for the documentation."""


def list_table(lines, option):
    """Lines of cells as reStructuredText, the first one the header; an option such as ``:class: dense``."""
    rows = "".join("   * - " + "\n     - ".join(line) + "\n" for line in lines)
    return f".. list-table::\n   :header-rows: 1\n   {option}\n\n{rows}"
