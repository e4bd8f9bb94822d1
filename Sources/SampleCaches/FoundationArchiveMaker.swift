import Bytes
import ResponseStorage

/// Converts sample responses to archives of a Foundation store.
struct FoundationArchiveMaker {
  private let faults: FaultPlan

  /// Creates an archive maker.
  init(faults: FaultPlan) {
    self.faults = faults
  }

  /// Returns the URL of a response in the store.
  ///
  /// Foundation's key ignores the query, so URLs that differ only in their first parameter would share a key; here
  /// the parameter becomes part of the path. The rest stays in the query, as it may be too long for a file name.
  func url(of sample: SampleResponse) -> ByteString {
    let url = Self.escaped(sample.url.url)
    guard sample.kind.pathPrefix.utf8.contains(UInt8(ascii: "?")),
      let mark = url.firstIndex(of: UInt8(ascii: "?"))
    else { return ByteString(url) }
    var result = url
    result[mark] = UInt8(ascii: "/")
    if let next = url[mark...].firstIndex(of: UInt8(ascii: "&")) {
      result[next] = UInt8(ascii: "?")
    }
    return ByteString(result)
  }

  /// Percent-escapes the characters that Foundation does not accept in a URL.
  private static func escaped(_ url: String) -> [UInt8] {
    url.utf8.flatMap { byte in
      switch byte {
      // `URL` of Foundation on Linux refuses these in a query or a path.
      case UInt8(ascii: "["): Array("%5B".utf8)
      case UInt8(ascii: "]"): Array("%5D".utf8)
      case UInt8(ascii: "|"): Array("%7C".utf8)
      default: [byte]
      }
    }
  }

  /// Returns the archive of a response.
  func archive(of sample: SampleResponse, using generator: inout SplitMix64) -> [UInt8] {
    var archive = FoundationArchive(
      url: url(of: sample), status: sample.exchange.status,
      headers: HeaderFields(sample.headers.fields),
      mimeType: ByteString(sample.exchange.kind.mimeType),
      // A Foundation store has no body files, so the fault is an archive without a body.
      body: faults.includes(.missingBodies, in: sample) ? nil : sample.exchange.body,
      created: sample.stored)
    // With the key under which published cache subclasses keep the date of storing, so that rules
    // for it have something to find.
    if generator.chance(inThousand: 120) {
      archive.userInfo = [
        .init(key: "Cached Date", value: .date(sample.stored)),
        .init(key: "attempt", value: .integer(Int64(1 + generator.below(4)))),
        .init(key: "source", value: .text("sample")),
      ]
    }
    return faults.damaged(archive.bytes, of: sample)
  }
}
