import Bytes
import Files

/// The canonical form of URLs that sorts the indexes of web archives: with the host reversed, and without parts that
/// rarely distinguish pages. It matches the Python package `surt`, which players use.
enum SURT {
  /// Returns the form: `https://www.Example.com:443/A/?b=2&a=1#x` becomes `com,example)/a?a=1&b=2`.
  static func make(of uri: [UInt8]) -> [UInt8] {
    let parts = URLParts(uri)
    guard let scheme = parts.scheme, let authority = parts.authority else {
      return uri.map(\.asciiLowercased)
    }
    let form =
      host(authority, scheme.map(\.asciiLowercased)) + [UInt8(ascii: ")")]
      + path(normalized(parts.path)) + query(normalized(parts.query ?? []))
    return form.map(\.asciiLowercased)
  }

  /// Returns the labels of the host in reverse order, with the port unless it is the default.
  private static func host(_ authority: URLAuthority, _ scheme: [UInt8]) -> [UInt8] {
    var (host, port) = (authority.host, authority.port ?? [])
    // The package only accepts digits as a port.
    if !port.allSatisfy(\.isASCIIDigit) { (host, port) = (authority.hostAndPort, []) }
    if port.elementsEqual((scheme == Array("https".utf8) ? "443" : "80").utf8) { port = [] }
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // pywb looks a page up without `www`, and would not find it otherwise.
    let parts = labels.dropFirst(labels.count > 1 && isUsualName(labels[0]) ? 1 : 0)
    return Array(parts.reversed().joined(separator: [0x2C]))
      + (port.isEmpty ? [] : [UInt8(ascii: ":")] + port)
  }

  /// Whether a label is `www`, with or without a number.
  private static func isUsualName(_ label: ArraySlice<UInt8>) -> Bool {
    label.prefix(3).map(\.asciiLowercased) == Array("www".utf8)
      && label.dropFirst(3).allSatisfy(\.isASCIIDigit)
  }

  /// Returns the path without empty segments, `.`, `..` and a trailing slash.
  private static func path(_ path: [UInt8]) -> [UInt8] {
    var segments: [ArraySlice<UInt8>] = []
    for segment in path.split(separator: UInt8(ascii: "/")) {
      if segment.elementsEqual("..".utf8) {
        _ = segments.popLast()
      } else if !segment.elementsEqual(".".utf8) {
        segments.append(segment)
      }
    }
    return [UInt8(ascii: "/")] + Array(segments.joined(separator: [UInt8(ascii: "/")]))
  }

  private static func query(_ query: [UInt8]) -> [UInt8] {
    if query.isEmpty { return [] }
    let parts = query.map(\.asciiLowercased)
      .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
      .sorted { $0.lexicographicallyPrecedes($1) }
    return [UInt8(ascii: "?")] + parts.joined(separator: [UInt8(ascii: "&")])
  }

  /// Percent-decodes text repeatedly, and then escapes only what must be escaped.
  private static func normalized(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var (text, last) = (text.percentUnescaped(), Array(text))
    // Nested escapes are decoded too. The limit bounds the work for hostile URLs; longer chains do not occur in
    // practice.
    for _ in 0..<16 where text != last { (text, last) = (text[...].percentUnescaped(), text) }
    return text.percentEscaped(.small) { byte in
      byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "#")
    }
  }
}

/// Sorts any number of lines by their bytes.
///
/// Memory use does not grow with the number of lines: sorted runs are kept in an unlinked file and merged.
struct SortedLines: ~Copyable {
  /// The lines of the current run.
  private var lines: [[UInt8]] = []
  private var lineBytes = 0
  private var runs: [Range<Int64>] = []
  private var file: TemporaryFile
  private let runSize: Int

  /// - Parameters:
  ///   - temporaryFolder: The folder for the sorted runs.
  ///   - runSize: The number of bytes that are sorted in memory.
  init(temporaryFolder: String, runSize: Int = 8 << 20) throws(FileError) {
    file = try TemporaryFile(in: temporaryFolder)
    self.runSize = runSize
  }

  /// Adds a line, given without its line feed.
  mutating func append(_ line: [UInt8]) throws(FileError) {
    lines.append(line)
    lineBytes += line.count
    if lineBytes >= runSize { try endRun() }
  }

  private mutating func endRun() throws(FileError) {
    let start = file.size
    // CDXJ readers search by bisection over bytes, as `LC_ALL=C sort` orders them. `String` would
    // compare by Unicode.
    lines.sort { $0.lexicographicallyPrecedes($1) }
    var bytes: [UInt8] = []
    for line in lines {
      bytes += line + [0x0A]
      if bytes.count >= 1 << 16 {
        try file.append(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
    }
    try file.append(bytes)
    runs.append(start..<file.size)
    lines.removeAll(keepingCapacity: true)
    lineBytes = 0
  }

  /// Calls `body` with each line, including its line feed, in sorted order.
  mutating func forEach(_ body: ([UInt8]) throws -> Void) throws {
    try endRun()
    var fronts: [(line: [UInt8], run: LineRun)] = []
    for run in runs {
      var run = LineRun(place: run)
      if let line = try run.next(file) { fronts.append((line, run)) }
    }
    // A linear search: with 8 MiB in each run, even an index of a million lines has few runs.
    while let first = fronts.indices.min(by: {
      fronts[$0].line.lexicographicallyPrecedes(fronts[$1].line)
    }) {
      try body(fronts[first].line)
      if let line = try fronts[first].run.next(file) {
        fronts[first].line = line
      } else {
        fronts.remove(at: first)
      }
    }
  }
}

/// Reads the lines of one run.
private struct LineRun {
  /// The range of the file that was not read yet.
  var place: Range<Int64>

  private var unread: ArraySlice<UInt8> = []

  init(place: Range<Int64>) {
    self.place = place
  }

  /// Returns the next line, including its line feed; `nil` at the end.
  mutating func next(_ file: borrowing TemporaryFile) throws(FileError) -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        line += unread[...end]
        unread = unread[(end + 1)...]
        return line
      }
      line += unread
      var buffer = [UInt8](repeating: 0, count: min(1 << 16, place.count))
      if buffer.isEmpty { return line.isEmpty ? nil : line }
      let count = try file.read(into: &buffer, at: place.lowerBound)
      if count == 0 { return line.isEmpty ? nil : line }
      place = (place.lowerBound + Int64(count))..<place.upperBound
      unread = buffer[..<count]
    }
  }
}
