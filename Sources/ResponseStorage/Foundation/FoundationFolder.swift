import Bytes
import Files

/// What the names and the sizes of the files in a folder tell of a Foundation store, without opening
/// any of them.
struct FoundationFolder {
  /// The folder in which swift-corelibs-foundation keeps the stores of programs that name no folder.
  static let parentName = "org.swift.foundation.URLCache"

  /// Whether a folder, which need not be there, is one that swift-corelibs-foundation keeps a store in.
  static func isStandard(_ path: String) -> Bool {
    let path = Array(absolutePath(path).utf8)
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    let parent = String(decoding: path[..<slash], as: UTF8.self)
    let parts = (Directory.resolvedPath(parent) ?? parent).utf8.split(separator: UInt8(ascii: "/"))
    return parts.last.map { $0.elementsEqual(parentName.utf8) } ?? false
  }

  /// The number of entries.
  private(set) var entries: Int64 = 0
  /// The lengths of their files, which is what `URLCache` holds against its capacity.
  private(set) var bytes: ByteCount = 0
  /// When the newest entry was stored, of those whose names say a time that can be.
  private(set) var newestStored: Timestamp?
  /// Whether there is anything that is neither an entry nor a temporary file of a store.
  private(set) var hasOtherFiles = false

  /// Takes a file of the folder in.
  ///
  /// - Returns: Whether it is an entry.
  mutating func insert(_ name: [UInt8], _ status: FileStatus) -> Bool {
    let kind = FoundationFileName(name)?.kind
    guard status.kind == .regular, case .response(let seconds, _) = kind else {
      if kind != .temporary { hasOtherFiles = true }
      return false
    }
    entries += 1
    bytes += status.size
    if let time = Timestamp(secondsSince2001: Double(seconds)) {
      newestStored = max(newestStored ?? time, time)
    }
    return true
  }
}
