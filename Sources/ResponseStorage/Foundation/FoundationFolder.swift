import Bytes
import Files

/// The properties of a Foundation store that the names and sizes of its files show, without opening them.
struct FoundationFolder {
  /// The folder in which swift-corelibs-foundation keeps the stores of programs that name no folder.
  static let parentName = "org.swift.foundation.URLCache"

  /// Whether a folder, which need not exist, is one in which swift-corelibs-foundation keeps a store.
  static func isStandard(_ path: String) -> Bool {
    let path = Array(absolutePath(path).utf8)
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    let parent = String(decoding: path[..<slash], as: UTF8.self)
    // The parent is resolved and not the path, which may not exist yet.
    let parts = (Directory.resolvedPath(parent) ?? parent).utf8.split(separator: UInt8(ascii: "/"))
    return parts.last.map { $0.elementsEqual(parentName.utf8) } ?? false
  }

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The total length of their files, which `URLCache` compares with its capacity.
  private(set) var bytes: ByteCount = 0
  /// When the newest entry was stored, among those whose names have a valid time.
  private(set) var newestStored: Timestamp?
  /// Whether an entry is a regular file, which proves that the folder is a store.
  private(set) var hasRegularEntry = false
  /// Whether there is anything but entries and temporary files of a store.
  private(set) var hasOtherFiles = false

  /// Adds a file of the folder.
  ///
  /// - Returns: Whether it is a file of an entry, so that the folder is a store.
  mutating func insert(_ name: [UInt8], _ status: FileStatus) -> Bool {
    let kind = FoundationFileName(name)?.kind
    guard case .response(let seconds, _) = kind else {
      if kind != .temporary { hasOtherFiles = true }
      return false
    }
    // `URLCache` counts anything with such a name, even a folder or a link.
    entries += 1
    bytes += status.size
    guard status.kind == .regular else {
      hasOtherFiles = true
      return false
    }
    hasRegularEntry = true
    // Foundation accepts any `Int64` in a name, and most of them are no time in a calendar.
    if let time = Timestamp(secondsSince2001: Double(seconds)) {
      newestStored = max(newestStored ?? time, time)
    }
    return true
  }
}
