import Bytes
import ResponseStorage

extension WARCHeader {
  /// The ids of the records that were made together with this one.
  ///
  /// Those beyond the first few are left out: an exchange has a handful, and what is kept for each
  /// of a million records must not be as long as a header can be.
  var concurrentIDs: [ByteString] {
    fields.lazy.filter { $0.name.asciiLowercased == "warc-concurrent-to" }
      .prefix(Self.mostConcurrentIDs).map(\.value)
  }

  private static let mostConcurrentIDs = 8

  /// What stands for the id of the record, and for those of the records that were made together with it.
  var ownMarks: [WARCMark] {
    ([self["warc-record-id"]].compactMap(\.self) + concurrentIDs).map { WARCMark($0) }
  }

  /// What a revisit may name the record by.
  var bodyMarks: [WARCMark] {
    var marks = [self["warc-record-id"], self["warc-payload-digest"]?.asciiLowercased]
      .compactMap(\.self).map { WARCMark($0) }
    if let uri = targetURI, let date = self["warc-date"] { marks.append(WARCMark(uri, date)) }
    return marks
  }

  /// What a revisit names the record by that it is of, the surest first.
  var revisitedMarks: [WARCMark] {
    var marks = [self["warc-refers-to"]].compactMap(\.self).map { WARCMark($0) }
    if let uri = self["warc-refers-to-target-uri"], let date = self["warc-refers-to-date"] {
      marks.append(WARCMark(uri, date))
    }
    if let digest = self["warc-payload-digest"] { marks.append(WARCMark(digest.asciiLowercased)) }
    return marks
  }
}
