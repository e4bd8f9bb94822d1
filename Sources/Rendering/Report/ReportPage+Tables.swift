import Administration
import ResponseStorage

extension ReportPage {
  /// A table that says what a drawing shows.
  ///
  /// - Parameters:
  ///   - marks: The class of the colour of each line; none without colours.
  ///   - isHeadShown: Whether the heads are for all to see, and not only for who has the page read out.
  func table(_ table: ReportTable, marks: [String] = [], isHeadShown: Bool = true) -> HTML {
    var heads: HTML = ""
    for column in table.columns { heads += "<th>\(column)</th>" }
    var rows: HTML = ""
    for (index, row) in table.rows.enumerated() {
      let mark: HTML = index < marks.count ? "<i class=\"\(marks[index])\"></i>" : ""
      let name: HTML = row.isFromCache ? "<bdi>\(row.name)</bdi>" : "\(row.name)"
      let meaning: HTML = row.meaning.map { " <span class=\"mut\">\($0)</span>" } ?? ""
      rows += "<tr><th scope=\"row\">\(mark)\(name)\(meaning)</th>"
      for value in row.values { rows += "<td>\(value)</td>" }
      rows += "</tr>\n"
    }
    return """
      <table class="plain"><thead class="\(isHeadShown ? "" : "vh")"><tr>\(heads)</tr></thead><tbody>
      \(rows)</tbody></table>
      """
  }

  /// A table that is shown when it is asked for.
  func details(_ table: ReportTable) -> HTML {
    """
    <details><summary>The same as a table</summary><div class="scroll-x">\(self.table(table))</div></details>
    """
  }
}
