import Bytes
import ResponseStorage

extension RemovalPlan.Entry: Spoolable {
  var textBytes: Int { (url?.bytes.count ?? 0) + (version.key?.bytes.count ?? 0) }

  /// What follows in the bytes of an entry.
  private struct Contents: OptionSet {
    let rawValue: Int64
    static let file = Contents(rawValue: 1)
    static let stored = Contents(rawValue: 2)
    static let key = Contents(rawValue: 4)
    /// The key, which equals the URL and is not repeated.
    static let sameKey = Contents(rawValue: 8)
    static let url = Contents(rawValue: 16)
    static let size = Contents(rawValue: 32)
    static let time = Contents(rawValue: 64)
    static let verdict = Contents(rawValue: 128)
    static let bodyFile = Contents(rawValue: 256)
    static let sharedFile = Contents(rawValue: 512)
    static let unknownAge = Contents(rawValue: 1_024)

    init(rawValue: Int64) { self.rawValue = rawValue }

    init(of entry: RemovalPlan.Entry) {
      self = []
      if entry.version.file != nil { insert(.file) }
      if entry.version.stored != nil { insert(.stored) }
      if entry.url != nil { insert(.url) }
      if let key = entry.version.key { insert(key == entry.url ? .sameKey : .key) }
      if entry.size != nil { insert(.size) }
      if entry.time != nil { insert(.time) }
      if entry.verdict != nil { insert(.verdict) }
      if entry.hasBodyFile { insert(.bodyFile) }
      if entry.share.sharedFile != nil { insert(.sharedFile) }
      if entry.isAgeUnknown { insert(.unknownAge) }
    }
  }

  func pack(into values: inout PackedValues) {
    let contents = Contents(of: self)
    values.append(contents.rawValue)
    values.append(share.pages.bytes)
    values.append(share.file.bytes)
    if let name = share.sharedFile { values.append(name) }
    values.append(choice: reason)
    values.append(state) { $0.append(choice: $1) }
    values.append(id: version.id)
    if let file = version.file { values.append(file: file) }
    if let stored = version.stored { values.append(time: stored) }
    if let url { values.append(url) }
    if let key = version.key, contents.contains(.key) { values.append(key) }
    if let size { values.append(size.bytes) }
    if let time { values.append(time: time) }
    if let verdict {
      values.append(choice: verdict.fate)
      values.append(Int64(verdict.rule))
    }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    let contents = Contents(rawValue: try reader.number())
    let pages = ByteCount(try reader.number())
    let fileBytes = ByteCount(try reader.number())
    let sharedFile = contents.contains(.sharedFile) ? try reader.text() : nil
    let reason: RemovalPlan.Reason = try reader.choice()
    let state: ResponseFreshness.State? = try reader.optional {
      reader throws(PackedReader.Failure) in try reader.choice()
    }
    let id = try reader.id()
    let file = contents.contains(.file) ? try reader.file() : nil
    let stored = contents.contains(.stored) ? try reader.time() : nil
    let url = contents.contains(.url) ? try reader.text() : nil
    let key =
      contents.contains(.key) ? try reader.text() : contents.contains(.sameKey) ? url : nil
    let size = contents.contains(.size) ? ByteCount(try reader.number()) : nil
    let time = contents.contains(.time) ? try reader.time() : nil
    self.init(
      version: ResponseVersion(id: id, key: key, stored: stored, file: file), url: url, size: size,
      hasBodyFile: contents.contains(.bodyFile), time: time,
      state: state, reason: reason)
    share = EntryShare(pages: pages, file: fileBytes, sharedFile: sharedFile)
    isAgeUnknown = contents.contains(.unknownAge)
    if contents.contains(.verdict) {
      let fate: EntryRule.Fate = try reader.choice()
      verdict = EntryRules.Verdict(rule: try reader.number(Int32.self), fate: fate)
    }
  }
}
