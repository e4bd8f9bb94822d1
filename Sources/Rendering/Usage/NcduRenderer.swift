import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders a list as a directory tree for `ncdu -f -`: hosts, the folders of their paths, and the entries with the
/// sizes of their bodies.
///
/// The format needs each folder once, with everything in it. So nothing is written before the last response, and names
/// and sizes are kept until then. Beyond a memory limit, responses are only counted.
///
/// Format: <https://dev.yorhel.nl/ncdu/jsonfmt>, version 1.1.
struct NcduRenderer: ResponseRenderer {
  private static let memoryLimit = 256 << 20
  private static let longestName = 1_024
  private static let deepestFolder = 16

  /// A response: the range of its host, path and query, and the size of its body.
  private struct Row {
    let text: Range<Int>
    let size: ByteCount
  }

  private let secrets: SecretPolicy
  private let now: Timestamp
  private let path: String
  private let memoryLimit: Int
  // One array for all texts: separate arrays would take about twice the memory.
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
    // Counted and not dropped, so that the sum at the top of `ncdu` is right.
    guard texts.count + rows.count * MemoryLayout<Row>.stride + cost <= memoryLimit else {
      others.entries += 1
      others.bytes += size
      return
    }
    rows.append(Row(text: texts.count..<(texts.count + text.count), size: size))
    texts += text
  }

  /// Returns the host and the rest of the URL, as they are shown.
  private func shown(_ url: ByteString) -> [UInt8] {
    let url = secrets.url(url, for: .people)
    guard let host = CanonicalURL.host(of: url) else {
      return Array("no host/".utf8) + HostileText.shown(url).bytes
    }
    let tail = HostileText.shown(URLTail.of(url)).bytes
    // A URL such as `https://host?query` has no path, but a folder name must end somewhere.
    let slash = tail.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    return HostileText.shown(host).bytes + slash + tail
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    let texts = texts
    let bytes = texts.span
    // Compared as bytes, texts with the same folders become neighbors.
    rows.sort { first, second in
      var (a, b) = (first.text.lowerBound, second.text.lowerBound)
      while a < first.text.upperBound, b < second.text.upperBound {
        if bytes[a] != bytes[b] { return bytes[a] < bytes[b] }
        (a, b) = (a + 1, b + 1)
      }
      let (rest, otherRest) = (first.text.upperBound - a, second.text.upperBound - b)
      // Equal texts keep their order, so that the output is deterministic.
      return rest == otherRest
        ? first.text.lowerBound < second.text.lowerBound : rest < otherRest
    }
    let path = HostileText.shown(ByteString(path)).bytes
    buffer.writeJSON { json in
      json.array { json in
        // The major and the minor version of the format.
        json.value(1)
        json.value(1)
        json.object { json in
          json.member("progname", "urlcache-admin")
          json.member("timestamp", max(0, now.wholeSeconds))
        }
        json.breakLine()
        json.array { json in
          json.object { write(name: path[...], to: &$0) }
          var rest = rows[...]
          write(&rest, in: [], to: &json)
          writeOthers(to: &json)
        }
      }
      json.endLine()
    }
  }

  /// Writes the responses and subfolders of a folder, up to the first response outside of it.
  private func write(
    _ rest: inout ArraySlice<Row>, in folder: [ArraySlice<UInt8>], to json: inout JSONWriter
  ) {
    while let row = rest.first {
      let (folders, name) = parts(of: texts[row.text])
      guard folders.starts(with: folder) else { return }
      json.breakLine()
      if folders.count > folder.count {
        json.array { json in
          json.object { write(name: folders[folder.count], to: &$0) }
          write(&rest, in: Array(folders[...folder.count]), to: &json)
        }
      } else {
        json.object { json in
          write(name: name, to: &json)
          write(size: row.size, to: &json)
        }
        rest.removeFirst()
      }
    }
  }

  /// Splits a text into folders, host first, and the remaining name.
  private func parts(
    of text: ArraySlice<UInt8>
  ) -> (folders: [ArraySlice<UInt8>], name: ArraySlice<UInt8>) {
    var (folders, start): ([ArraySlice<UInt8>], Int) = ([], text.startIndex)
    for index in text.indices {
      if text[index] == UInt8(ascii: "?") || text[index] == UInt8(ascii: "#") { break }
      // Deeper folders become part of the name, because each folder is a level of recursion.
      guard text[index] == UInt8(ascii: "/"), folders.count < Self.deepestFolder else { continue }
      folders.append(text[start..<index])
      start = index + 1
    }
    return (folders, text[start...])
  }

  /// Writes a name; a long one loses its middle.
  private func write(name: ArraySlice<UInt8>, to json: inout JSONWriter) {
    // The entry of a folder itself has no name left.
    let name = name.isEmpty ? [UInt8(ascii: "/")] : Array(name)
    json.key("name")
    json.string(repairing: Excerpt.of(name, characters: Self.longestName))
  }

  private func write(size: ByteCount, to json: inout JSONWriter) {
    json.member("asize", size)
    // The size on disk of a body inside a database is not defined, and `ncdu` shows this number
    // first.
    json.member("dsize", size)
  }

  private func writeOthers(to json: inout JSONWriter) {
    guard others.entries > 0 else { return }
    json.breakLine()
    json.object { json in
      json.member("name", "others: \(ReportWords.grouped(others.entries)) entries")
      write(size: others.bytes, to: &json)
    }
  }
}
