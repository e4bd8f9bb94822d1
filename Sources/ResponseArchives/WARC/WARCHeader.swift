import Bytes
import ResponseStorage

/// The header of a WARC record (ISO 28500:2017, section 4).
struct WARCHeader: Hashable, Sendable {
  /// The named fields, in order.
  var fields: [HeaderFields.Field] = []

  // The specification has no limit, and a hostile file could have one line of gigabytes.
  // An endless one is the simplest way to make a reader of records run out of memory.
  /// The maximum size of a header, in bytes.
  static let largest = 1 << 16

  /// The value of a field, or `nil` if there is none.
  ///
  /// - Parameter name: The name in lowercase.
  subscript(name: StaticString) -> ByteString? {
    HeaderFields(fields).firstValue(named: name)
  }

  /// The record type, in lowercase.
  var type: ByteString { self["warc-type"]?.asciiLowercased ?? "" }

  /// The target URI of the record. Some writers of WARC 1.0 enclose it in angle brackets.
  var targetURI: ByteString? {
    guard let uri = self["warc-target-uri"]?.bytes else { return nil }
    let isEnclosed = uri.first == UInt8(ascii: "<") && uri.last == UInt8(ascii: ">")
    return ByteString(isEnclosed && uri.count > 1 ? Array(uri.dropFirst().dropLast()) : uri)
  }

  /// The date of the record.
  var date: Timestamp? { self["warc-date"].flatMap { Timestamp(warcDate: $0) } }

  /// Returns the size of the block, in bytes.
  ///
  /// - Throws: ``WARCError`` if the header contains no valid length.
  func blockLength() throws(WARCError) -> ByteCount {
    // Every reader needs this field to find the next record. The digits are checked strictly,
    // because a sign or white space would be read differently by other programs.
    guard let text = self["content-length"], let length = Int64(digits: text.bytes[...]) else {
      throw WARCError("a record has no Content-Length")
    }
    return ByteCount(length)
  }

  /// Creates a header from the lines after the version line.
  ///
  /// - Parameter lines: The lines, without their endings.
  /// - Throws: ``WARCError`` if a line is not a field, or a field that is read has two values.
  init(lines: [[UInt8]]) throws(WARCError) {
    for line in lines {
      if line.first == 0x20 || line.first == 0x09, let last = fields.indices.last {
        fields[last].value.bytes += [0x20] + line.trimmingBlanks
        continue
      }
      guard let field = HeaderFields.Field(line: line[...]) else {
        throw WARCError("a line in a record's header is not a field")
      }
      fields.append(field)
    }
    try checkRepeatedFields()
  }

  // Crawlers repeat fields that newer proposals define, such as WARC-Protocol, and WARC-Concurrent-To may be repeated
  // (ISO 28500:2017, section 4). Of those that are read here, two programs could use different ones.
  /// The fields that are read, and may have only one value.
  private static let single: [ByteString] = [
    "warc-type", "warc-record-id", "warc-date", "content-length", "content-type", "warc-target-uri",
    "warc-block-digest", "warc-payload-digest", "warc-refers-to", "warc-refers-to-target-uri",
    "warc-refers-to-date", "warc-truncated", "warc-segment-number",
  ]

  private func checkRepeatedFields() throws(WARCError) {
    var values = [ByteString?](repeating: nil, count: Self.single.count)
    for field in fields {
      guard let index = Self.single.firstIndex(where: { $0.equalsIgnoringASCIICase(field.name) })
      else { continue }
      guard values[index] == nil || values[index] == field.value else {
        throw WARCError("a record's header repeats a field with another value")
      }
      values[index] = field.value
    }
  }

  /// Creates a header.
  init(_ fields: [(name: StaticString, value: [UInt8])] = []) {
    self.fields = fields.map {
      .init(name: ByteString(stringLiteral: $0.name), value: ByteString($0.value))
    }
  }

  /// The encoded header, with the version line and the empty line.
  var bytes: [UInt8] {
    var bytes = Array("WARC/1.1\r\n".utf8)
    for field in fields { bytes += field.line }
    return bytes + [0x0D, 0x0A]
  }
}

extension HeaderFields.Field {
  /// Creates a field from `name: value`; `nil` if the line has no valid name.
  init?(line: ArraySlice<UInt8>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = Array(line[..<colon].trimmingBlanks)
    guard name.isToken else { return nil }
    self.init(name: ByteString(name), value: ByteString(Array(line[(colon + 1)...].trimmingBlanks)))
  }

  /// The field as a header line, with its ending. Control characters, such as line breaks, become spaces, so that a
  /// value cannot add header lines.
  var line: [UInt8] {
    var value = value.bytes
    if !PrintableASCII.isAll(of: value.span) {
      value = value.map { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F ? 0x20 : $0 }
    }
    var line = name.bytes
    line.reserveCapacity(line.count + value.count + 4)
    line += [0x3A, 0x20]
    line += value.trimmingBlanks
    line += [0x0D, 0x0A]
    return line
  }
}

extension Int64 {
  /// Creates an integer from ASCII digits only; `nil` if there are none, or anything else, or the number is too
  /// large.
  init?(digits: ArraySlice<UInt8>) {
    guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    self.init(String(decoding: digits, as: UTF8.self))
  }
}

extension WARCHeader {
  /// The ids of the records that were captured together with this one.
  ///
  /// Only the first few are kept. An exchange has a handful, and a 64 KiB header could name thousands, which for a
  /// million records would take too much memory.
  var concurrentIDs: [ByteString] {
    fields.lazy.filter { $0.name.equalsIgnoringASCIICase("warc-concurrent-to") }
      .prefix(Self.mostConcurrentIDs).map(\.value)
  }

  private static let mostConcurrentIDs = 8

  /// The marks of the ids of this record and of the records captured together with it.
  var ownMarks: [WARCMark] {
    ([self["warc-record-id"]].compactMap(\.self) + concurrentIDs).map { WARCMark($0) }
  }

  /// The marks that a revisit may refer to this record by.
  var bodyMarks: [WARCMark] {
    captureMarks
      + [self["warc-payload-digest"]?.asciiLowercased].compactMap(\.self).map { WARCMark($0) }
  }

  /// The marks that a revisit may refer to this capture by, whatever its contents are.
  var captureMarks: [WARCMark] {
    var marks = [self["warc-record-id"]].compactMap(\.self).map { WARCMark($0) }
    if let uri = targetURI, let date = self["warc-date"] { marks.append(WARCMark(uri, date)) }
    return marks
  }

  /// The marks of the record that this one revisits, most reliable first.
  var revisitedMarks: [WARCMark] {
    // The id names exactly one record. URL and date may name several captures, and equal digests
    // only prove that the bytes are equal.
    var marks = [self["warc-refers-to"]].compactMap(\.self).map { WARCMark($0) }
    if let uri = self["warc-refers-to-target-uri"], let date = self["warc-refers-to-date"] {
      marks.append(WARCMark(uri, date))
    }
    if let digest = self["warc-payload-digest"] { marks.append(WARCMark(digest.asciiLowercased)) }
    return marks
  }
}
