import Bytes
import ResponseStorage

/// Turns made-up responses into the archives of a Foundation store.
struct FoundationArchiveMaker {
  private let faults: FaultPlan

  /// Creates a maker of archives.
  init(faults: FaultPlan) {
    self.faults = faults
  }

  /// The URL that a response is stored for.
  ///
  /// Foundation's key has no query: what is told apart by the first part of it only would have one key, so
  /// that is a part of the path here. The rest may be too long for a file's name.
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

  /// The bytes of a URL as Foundation takes it: what may not stand in one is percent-escaped.
  private static func escaped(_ url: String) -> [UInt8] {
    url.utf8.flatMap { byte in
      switch byte {
      case UInt8(ascii: "["): Array("%5B".utf8)
      case UInt8(ascii: "]"): Array("%5D".utf8)
      case UInt8(ascii: "|"): Array("%7C".utf8)
      default: [byte]
      }
    }
  }

  /// Returns the bytes of the archive of a response.
  func archive(of sample: SampleResponse, using generator: inout SplitMix64) -> [UInt8] {
    var archive = FoundationArchive(
      url: url(of: sample), status: sample.exchange.status,
      headers: HeaderFields(sample.headers.fields),
      mimeType: ByteString(sample.exchange.kind.mimeType),
      body: faults.includes(.missingBodies, in: sample) ? nil : sample.exchange.body,
      created: sample.stored)
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
