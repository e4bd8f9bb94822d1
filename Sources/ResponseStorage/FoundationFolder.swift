import Files

/// What the names and the sizes of the files in a folder tell of a Foundation store, without opening
/// any of them.
struct FoundationFolder {
  /// The folder in which swift-corelibs-foundation keeps the stores of programs that name no folder.
  static let parentName = "org.swift.foundation.URLCache"

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The lengths of their files, in bytes, which is what `URLCache` holds against its capacity.
  private(set) var bytes: Int64 = 0
  /// When the newest entry was stored, of those whose names say a time that can be.
  private(set) var newestStored: Timestamp?
  /// Whether there is anything that is neither an entry nor a temporary file of a store.
  private(set) var hasOtherFiles = false

  /// Takes a file of the folder in.
  ///
  /// - Returns: Whether it is an entry.
  mutating func insert(_ name: [UInt8], _ status: FileStatus) -> Bool {
    guard status.kind == .regular, let seconds = Self.secondsSince2001(inName: name) else {
      if !name.starts(with: Self.temporaryPrefix) { hasOtherFiles = true }
      return false
    }
    entries += 1
    bytes = bytes.addingClamped(status.size)
    if let time = Timestamp(secondsSince2001: Double(seconds)) {
      newestStored = max(newestStored ?? time, time)
    }
    return true
  }

  /// The second of storing that the name of an entry begins with:
  /// `SECONDS.ID.storedcachedurlresponse`, the suffix in small or capital letters.
  ///
  /// - Returns: `nil` if that is not the name of an entry.
  static func secondsSince2001(inName name: [UInt8]) -> Int64? {
    guard name.count > suffix.count,
      zip(name.suffix(suffix.count), suffix).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 })
    else { return nil }
    let parts = name.dropLast(suffix.count).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return Int64(String(decoding: parts[0], as: UTF8.self))
  }

  private static let suffix = Array(".storedcachedurlresponse".utf8)
  private static let temporaryPrefix = Array(".dat.nosync".utf8)
}
