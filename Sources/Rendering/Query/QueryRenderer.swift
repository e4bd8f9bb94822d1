import Bytes
import JSON

/// Renders the rows of a query.
public struct QueryRenderer: Sendable {
  private let format: QueryFormat
  private let columns: [String]
  private var table: QueryTable
  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  ///
  /// - Parameter columns: The names of the columns.
  public init(_ format: QueryFormat, columns: [String]) {
    self.format = format
    self.columns = columns
    table = QueryTable(columns: columns)
  }

  /// Appends the text before the first row.
  public mutating func begin(into buffer: inout TextBuffer) {
    switch format {
    case .table, .ndjson: break
    case .json: json.begin("rows", in: &buffer.bytes) { $0.member(schema: "query") }
    case .csv, .tsv:
      appendLine(columns.map { .text(Array($0.utf8)) }, into: &buffer)
    }
  }

  /// Appends a row, or keeps it until the column widths are known.
  public mutating func render(_ row: [DatabaseValue], into buffer: inout TextBuffer) {
    switch format {
    case .table: table.append(row, into: &buffer)
    case .json:
      let columns = columns
      json.append(to: &buffer.bytes) { Self.append(row, columns, to: &$0) }
    case .ndjson:
      buffer.writeJSON { json in
        Self.append(row, columns, to: &json)
        json.endLine()
      }
    case .csv, .tsv: appendLine(row, into: &buffer)
    }
  }

  /// Appends the text after the last row.
  public mutating func finish(into buffer: inout TextBuffer) {
    switch format {
    case .table: table.finish(into: &buffer)
    case .json: json.end(in: &buffer.bytes)
    case .ndjson, .csv, .tsv: break
    }
  }

  private static func append(
    _ row: [DatabaseValue], _ columns: [String], to json: inout JSONWriter
  ) {
    json.object { json in
      for (name, value) in zip(columns, row) {
        json.key(named: name)
        switch value {
        case .null: json.null()
        case .integer(let value): json.value(value)
        case .real(let value): json.value(value)
        case .text(let text): json.utf8OrBase64(text)
        case .bytes(let bytes): json.object { $0.base64Member(bytes) }
        }
      }
    }
  }

  private func appendLine(_ row: [DatabaseValue], into buffer: inout TextBuffer) {
    for (index, value) in row.enumerated() {
      if index > 0 { buffer.append(format == .csv ? UInt8(ascii: ",") : UInt8(ascii: "\t")) }
      switch value {
      case .null: break
      case .integer(let value): buffer.append(integer: value)
      case .real(let value): buffer.append("\(value)")
      case .text(let text), .bytes(let text):
        if format == .csv { buffer.append(csv: text) } else { buffer.append(tsv: text) }
      }
    }
    buffer.append(UInt8(ascii: "\n"))
  }
}
