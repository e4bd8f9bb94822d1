public import Administration
public import ResponseStorage

/// The command that repairs the findings of a check.
public enum RepairHint {
  /// Returns the command that reads what is left in a damaged database; `nil` if the database is not damaged.
  public static func recovery(for check: StoreCheck) -> String? {
    let store = check.plan.store
    guard check.isDamaged, store.format == .apple else { return nil }
    return "urlcache-admin recover --damaged \(ShellText.option("-c", "--cache", store.path))"
  }

  /// Returns the command for a POSIX shell; `nil` if nothing can be repaired, or the store is read-only.
  ///
  /// - Parameter naming: How side files are named, if the user specified it.
  public static func command(for check: StoreCheck, naming: SidecarNaming? = nil) -> String? {
    let store = check.plan.store
    var repairable = check.repairable
    // Without the naming scheme, a repair could not write side files.
    if check.sidecars?.needsNaming ?? true { repairable.remove(.sidecars) }
    guard !repairable.isEmpty, store.readOnlyReason == nil,
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
