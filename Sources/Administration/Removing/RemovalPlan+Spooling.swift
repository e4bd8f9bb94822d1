import Bytes
import ResponseStorage

extension RemovalPlan.Entry: Spoolable {
  var textBytes: Int { (url?.bytes.count ?? 0) + (version.key?.bytes.count ?? 0) }

  /// What follows in the bytes of an entry.
  private struct Contents: OptionSet {
    let rawValue: UInt8
    static let file = Contents(rawValue: 1)
    static let stored = Contents(rawValue: 2)
    static let key = Contents(rawValue: 4)
    /// The key, which equals the URL and is not repeated.
    static let sameKey = Contents(rawValue: 8)
    static let url = Contents(rawValue: 16)
    static let size = Contents(rawValue: 32)
    static let time = Contents(rawValue: 64)
    static let verdict = Contents(rawValue: 128)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(of entry: RemovalPlan.Entry) {
      self = []
      if entry.version.file != nil { insert(.file) }
      if entry.version.stored != nil { insert(.stored) }
      if entry.url != nil { insert(.url) }
      if let key = entry.version.key { insert(key == entry.url ? .sameKey : .key) }
      if entry.size != nil { insert(.size) }
      if entry.time != nil { insert(.time) }
      if entry.verdict != nil { insert(.verdict) }
    }
  }

  func append(to bytes: inout [UInt8]) {
    let contents = Contents(of: self)
    bytes.append(contents.rawValue)
    bytes.append((hasBodyFile ? 1 : 0) | (isOrphan ? 2 : 0))
    bytes.append(round)
    bytes.append(choice: reason)
    bytes.append(choice: state)
    bytes.append(id: version.id)
    if let file = version.file { bytes.append(file: file) }
    if let stored = version.stored { bytes.append(time: stored) }
    if let url { bytes.append(text: url) }
    if let key = version.key, contents.contains(.key) { bytes.append(text: key) }
    if let size { bytes.append(integer: size.bytes) }
    if let time { bytes.append(time: time) }
    if let verdict {
      bytes.append(choice: verdict.fate)
      bytes.append(integer: Int64(verdict.rule))
    }
  }

  init(reading bytes: inout SpooledBytes) {
    let contents = Contents(rawValue: bytes.byte())
    let flags = bytes.byte()
    let round = bytes.byte()
    let reason: RemovalPlan.Reason? = bytes.choice()
    let state: ResponseFreshness.State? = bytes.choice()
    let id = bytes.id()
    let file = contents.contains(.file) ? bytes.file() : nil
    let stored = contents.contains(.stored) ? bytes.time() : nil
    let url = contents.contains(.url) ? bytes.text() : nil
    let key = contents.contains(.key) ? bytes.text() : contents.contains(.sameKey) ? url : nil
    let size = contents.contains(.size) ? ByteCount(bytes.integer()) : nil
    let time = contents.contains(.time) ? bytes.time() : nil
    self.init(
      version: ResponseVersion(id: id, key: key, stored: stored, file: file), url: url, size: size,
      hasBodyFile: flags & 1 != 0, isOrphan: flags & 2 != 0, time: time, state: state,
      reason: reason ?? .selected)
    self.round = round
    if contents.contains(.verdict), let fate: EntryRule.Fate = bytes.choice() {
      verdict = EntryRules.Verdict(rule: Int32(clamping: bytes.integer()), fate: fate)
    }
  }
}
