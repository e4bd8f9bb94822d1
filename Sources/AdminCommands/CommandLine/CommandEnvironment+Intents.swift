import Files
import Rendering
import ResponseStorage

extension CommandEnvironment {
  /// Removes the files that an interrupted command on the cache at a path has left, and tells the user of it.
  ///
  /// - Parameter wait: How long to wait for another process's lock, in milliseconds.
  func finishIntents(at path: String, waiting wait: Int32) {
    let finished = finishIntents(path, wait)
    func files(_ count: Int) -> String {
      let word = finished.areBodyFiles ? "body file" : "temporary file"
      return "\(count) \(word)\(count == 1 ? "" : "s") that an interrupted command left"
    }
    if finished.removedFiles > 0 { note("removed \(files(finished.removedFiles))") }
    if finished.remainingFiles > 0 { note("could not remove \(files(finished.remainingFiles))") }
    if finished.damagedIntents > 0 {
      note("ignored and removed files that are no intents of commands: \(finished.damagedIntents)")
    }
    // Any other failure meets the command itself next.
    if let failure = finished.failure, failure.code == .inUse {
      note("the next command removes the files that an interrupted command left: \(failure)")
    }
  }

  /// Where this user's commands note what they are about to do.
  ///
  /// - Parameters:
  ///   - variable: Returns an environment variable.
  ///   - report: Told once why nothing can be noted.
  static func intentFolder(
    _ variable: (String) -> String?, _ report: @escaping @Sendable (String) -> Void
  ) -> IntentFolder {
    let isReported = Monitor(false)
    return IntentFolder(at: stateFolder(variable).map { "\($0)/intents" }) { error in
      var isFirst = false
      isReported.update { reported in
        isFirst = !reported
        reported = true
      }
      guard isFirst else { return }
      let reason =
        error.map { "cannot write \($0)" }
        ?? "no folder for state: HOME is not set, or belongs to another user"
      report("\(reason); if this command is killed, only 'check --repair' removes what it leaves")
    }
  }

  /// The folder for what the program has to remember; `nil` if this user has none.
  static func stateFolder(_ variable: (String) -> String?) -> String? {
    func folder(_ name: String) -> String? {
      // systemd gives a service several, with colons between them.
      let value = variable(name)?.utf8.split(separator: UInt8(ascii: ":")).first
      guard let value, value.first == UInt8(ascii: "/") else { return nil }
      return String(decoding: Array(value), as: UTF8.self)
    }
    if let folder = variable("XDG_STATE_HOME"), folder.utf8.first == UInt8(ascii: "/") {
      return "\(folder)/urlcache-admin"
    }
    if let folder = folder("STATE_DIRECTORY") { return folder }
    // What root makes in the folder of a user who became root, that user could not write to afterwards.
    guard let home = variable("HOME"), home.utf8.first == UInt8(ascii: "/"),
      FileAccess.isOwn(home)
    else { return nil }
    #if os(macOS)
      return "\(home)/Library/Application Support/urlcache-admin"
    #else
      return "\(home)/.local/state/urlcache-admin"
    #endif
  }
}

extension ChangeOptions {
  /// Removes what an interrupted command on a cache has left, if this one may change the cache at all.
  ///
  /// It comes before the plan, as a plan of nothing does not open the cache for changing.
  func finishIntents(
    of cache: CacheOptions, at path: String? = nil, in environment: CommandEnvironment
  ) throws {
    guard !dryRun, yes || environment.isInputTerminal else { return }
    environment.finishIntents(
      at: try path ?? cache.path(in: environment), waiting: cache.waitMilliseconds)
  }
}
