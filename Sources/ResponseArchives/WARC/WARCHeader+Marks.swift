import Bytes
import ResponseStorage

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
