import Administration
import Bytes
import ResponseStorage

/// A list as the tree of folders that `ncdu -f -` browses: hosts, the folders of their paths, and in them
/// the entries with the sizes of their bodies.
///
/// A folder is written once, with all that is in it: so nothing is before the last response has come, and
/// until then names and sizes are kept. Beyond a limit responses are only counted.
///
/// Format: <https://dev.yorhel.nl/ncdu/jsonfmt>, version 1.1.
struct NcduRenderer: ResponseRenderer {
  private static let memoryLimit = 256 << 20
  private static let longestName = 1_024
  private static let deepestFolder = 16

  /// A response: where its host, path and query are, and the size of its body.
  private struct Row {
    let text: Range<Int>
    let size: ByteCount
  }

  private let secrets: SecretPolicy
  private let now: Timestamp
  private let path: String
  private let memoryLimit: Int
  // One array for all texts: each by itself would cost as much again.
  private var texts: [UInt8] = []
  private var rows: [Row] = []
  private var others = (entries: Int64(0), bytes: ByteCount(0))

  init(
    secrets: SecretPolicy, now: Timestamp, path: String, memoryLimit: Int = memoryLimit
  ) {
    self.secrets = secrets
    self.now = now
    self.path = path
    self.memoryLimit = memoryLimit
  }

  mutating func begin(into buffer: inout TextBuffer) {}

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    let size = response.bodySize ?? 0
    let text = response.url.map { shown($0) } ?? Array("no URL/".utf8)
    let cost = text.count + MemoryLayout<Row>.stride
    guard texts.count + rows.count * MemoryLayout<Row>.stride + cost <= memoryLimit else {
      others.entries += 1
      others.bytes += size
      return
    }
    rows.append(Row(text: texts.count..<(texts.count + text.count), size: size))
    texts += text
  }

  /// The host, and what follows it in the URL, as they are shown.
  private func shown(_ url: ByteString) -> [UInt8] {
    let url = secrets.url(url, for: .people)
    guard let host = CanonicalURL.host(of: url) else {
      return Array("no host/".utf8) + HostileText.shown(url).bytes
    }
    let tail = HostileText.shown(URLTail.of(url)).bytes
    let slash = tail.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    return HostileText.shown(host).bytes + slash + tail
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    let texts = texts
    let bytes = texts.span
    // What begins with the same folders comes together, whatever the order of the bytes.
    rows.sort { first, second in
      var (a, b) = (first.text.lowerBound, second.text.lowerBound)
      while a < first.text.upperBound, b < second.text.upperBound {
        if bytes[a] != bytes[b] { return bytes[a] < bytes[b] }
        (a, b) = (a + 1, b + 1)
      }
      let (rest, otherRest) = (first.text.upperBound - a, second.text.upperBound - b)
      return rest == otherRest
        ? first.text.lowerBound < second.text.lowerBound : rest < otherRest
    }
    buffer.append("[1,1,{\"progname\":\"urlcache-admin\",\"timestamp\":")
    buffer.append(integer: max(0, now.wholeSeconds))
    buffer.append("},\n[{\"name\":")
    append(name: HostileText.shown(ByteString(path)).bytes[...], to: &buffer)
    buffer.append("}")
    var open: [ArraySlice<UInt8>] = []
    for row in rows { append(row, in: &open, to: &buffer) }
    for _ in open { buffer.append("]") }
    appendOthers(to: &buffer)
    buffer.append("]]\n")
  }

  /// Appends a response, after closing the folders that it is not in, and opening those that it is in.
  private func append(
    _ row: Row, in open: inout [ArraySlice<UInt8>], to buffer: inout TextBuffer
  ) {
    let (folders, name) = parts(of: texts[row.text])
    let shared = zip(open, folders).prefix { $0 == $1 }.count
    for _ in shared..<open.count { buffer.append("]") }
    for folder in folders[shared...] {
      buffer.append(",\n[{\"name\":")
      append(name: folder, to: &buffer)
      buffer.append("}")
    }
    open = folders
    buffer.append(",\n{\"name\":")
    append(name: name, to: &buffer)
    append(size: row.size, to: &buffer)
  }

  /// The folders that a text names, the host first, and what is left.
  private func parts(
    of text: ArraySlice<UInt8>
  ) -> (folders: [ArraySlice<UInt8>], name: ArraySlice<UInt8>) {
    var (folders, start): ([ArraySlice<UInt8>], Int) = ([], text.startIndex)
    for index in text.indices {
      if text[index] == UInt8(ascii: "?") || text[index] == UInt8(ascii: "#") { break }
      guard text[index] == UInt8(ascii: "/"), folders.count < Self.deepestFolder else { continue }
      folders.append(text[start..<index])
      start = index + 1
    }
    return (folders, text[start...])
  }

  /// Appends a name, of which long ones lose their middle.
  private func append(name: ArraySlice<UInt8>, to buffer: inout TextBuffer) {
    let name = name.isEmpty ? [UInt8(ascii: "/")] : Array(name)
    buffer.append(json: Excerpt.of(name, characters: Self.longestName))
  }

  private func append(size: ByteCount, to buffer: inout TextBuffer) {
    buffer.append(",\"asize\":")
    buffer.append(plain: size)
    buffer.append(",\"dsize\":")
    buffer.append(plain: size)
    buffer.append("}")
  }

  private func appendOthers(to buffer: inout TextBuffer) {
    guard others.entries > 0 else { return }
    buffer.append(",\n{\"name\":\"others: ")
    buffer.append(grouped: others.entries)
    buffer.append(" entries\"")
    append(size: others.bytes, to: &buffer)
  }
}
