import Administration
import ResponseStorage

extension ReportPage {
  /// Returns a table with the data of a drawing.
  ///
  /// - Parameters:
  ///   - marks: The color class of each row; empty for no colors.
  ///   - isHeadShown: Whether the column heads are visible, or only available to screen readers.
  func table(_ table: ReportTable, marks: [String] = [], isHeadShown: Bool = true) -> HTML {
    var heads: HTML = ""
    for column in table.columns { heads += "<th>\(column)</th>" }
    var rows: HTML = ""
    for (index, row) in table.rows.enumerated() {
      let mark: HTML = index < marks.count ? "<i class=\"\(marks[index])\"></i>" : ""
      let name: HTML = row.isFromCache ? "<bdi>\(row.name)</bdi>" : "\(row.name)"
      let meaning: HTML = row.meaning.map { " <span class=\"mut\">\($0)</span>" } ?? ""
      let kind: HTML = index < marks.count ? " class=\"mk\"" : ""
      rows += "<tr><th scope=\"row\"\(kind)>\(mark)\(name)\(meaning)</th>"
      for value in row.values { rows += "<td>\(value)</td>" }
      rows += "</tr>\n"
    }
    return """
      <table class="plain"><thead class="\(isHeadShown ? "" : "vh")"><tr>\(heads)</tr></thead><tbody>
      \(rows)</tbody></table>
      """
  }

  // The same numbers as text for screen readers, for copying, and for those who doubt a drawing.
  /// Returns a collapsed table.
  func details(_ table: ReportTable) -> HTML {
    """
    <details><summary>Show as a table</summary><div class="scroll-x">\(self.table(table))</div></details>
    """
  }
}
