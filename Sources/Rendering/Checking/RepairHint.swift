public import Administration
import Bytes
public import ResponseStorage

/// The command that repairs the findings of a check.
public enum RepairHint {
  /// Returns the command that saves what is left in a damaged database; `nil` if the database is not damaged.
  public static func recovery(for check: StoreCheck) -> String? {
    let store = check.plan.store
    guard check.isDamaged, store.format == .apple else { return nil }
    return recovery(ofCacheAt: store.path)
  }

  /// Returns the command that saves what is left in the damaged database of a cache.
  public static func recovery(ofCacheAt path: String) -> String {
    let isOption = path.utf8.first == UInt8(ascii: "-")
    let cache =
      isOption ? ShellText.option("-c", "--cache", path) : ShellText.word(ByteString(path))
    return "urlcache-admin recover --damaged \(cache) -o recovered.tar"
  }

  /// Returns the path of a new cache with the entries that are recovered from a damaged one: a folder next to it.
  public static func newCache(insteadOf path: String) -> String {
    var folder = path.utf8[...]
    let name = "Cache.db".utf8
    if folder.elementsEqual(name) || folder.reversed().starts(with: "/Cache.db".utf8.reversed()) {
      folder = folder.dropLast(name.count)
    }
    while folder.count > 1, folder.last == UInt8(ascii: "/") { folder = folder.dropLast() }
    let text = String(decoding: Array(folder), as: UTF8.self)
    return ["", ".", "/"].contains(text) ? "recovered" : "\(text)-recovered"
  }

  /// Returns the command for a POSIX shell; `nil` if nothing can be repaired, or the store is read-only.
  ///
  /// - Parameter naming: How sidecar files are named, if the user specified it.
  public static func command(for check: StoreCheck, naming: SidecarNaming? = nil) -> String? {
    let store = check.plan.store
    var repairable = check.repairable
    // Without the naming scheme, a repair could not write sidecar files.
    if check.sidecars?.needsNaming ?? true { repairable.remove(.sidecars) }
    // A damaged database is never changed.
    guard !repairable.isEmpty, !check.isDamaged, store.readOnlyReason == nil,
      [.apple, .foundation].contains(store.format)
    else { return nil }
    // Named one by one: a bare `--repair` would also remove kinds that this check has not found.
    let kinds = Finding.Repair.allCases.filter { repairable.contains($0) }.map(\.rawValue)
    let cache = ShellText.option("-c", "--cache", store.path)
    var command = "urlcache-admin check \(cache) --repair=\(kinds.joined(separator: ","))"
    if repairable.contains(.sidecars), let folder = check.sidecars?.folder.path {
      command += " " + ShellText.option("--sidecars", "--sidecars", folder)
      if let naming { command += " --sidecar-names \(naming.rawValue)" }
    }
    return command
  }
}
