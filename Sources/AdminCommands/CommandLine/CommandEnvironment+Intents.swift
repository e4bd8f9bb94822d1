import Files
import Rendering
import ResponseStorage

extension CommandEnvironment {
  /// Removes the files that an interrupted command left in the cache at a path, and reports that.
  ///
  /// - Parameter wait: The time to wait for the lock of another process, in milliseconds.
  func finishIntents(at path: String, waiting wait: Int32) {
    // A killed command may have staged bodies that no row refers to. Its intent names them, so that
    // they need not be told from the bodies that an app is just storing.
    let finished = finishIntents(path, wait)
    func files(_ count: Int) -> String {
      let word = finished.areBodyFiles ? "body file" : "temporary file"
      return "\(QuantityWords.counted(count, word, "\(word)s")) left by an interrupted command"
    }
    // A note, as the user did not ask for this: bytes that disappear without a word look like a
    // loss.
    if finished.removedFiles > 0 { note("removed \(files(finished.removedFiles))") }
    if finished.remainingFiles > 0 { note("could not remove \(files(finished.remainingFiles))") }
    if finished.damagedIntents > 0 {
      note(
        "removed unreadable records of interrupted commands: \(QuantityWords.grouped(Int64(finished.damagedIntents)))"
      )
    }
    // The command itself will run into any other failure.
    if let failure = finished.failure, failure.code == .inUse {
      note(
        "cannot remove the files left by an interrupted command yet; the next command will try again: \(failure)"
      )
    }
  }

  /// Returns the folder where the commands of this user record their intents.
  ///
  /// - Parameters:
  ///   - variable: Returns an environment variable.
  ///   - report: Called once with the reason if intents cannot be recorded.
  static func intentFolder(
    _ variable: (String) -> String?, _ report: @escaping @Sendable (String) -> Void
  ) -> IntentFolder {
    let isReported = Monitor(false)
    let lack = lackOfStateFolder(variable)
    return IntentFolder(at: stateFolder(variable).map { "\($0)/intents" }) { error in
      var isFirst = false
      isReported.update { reported in
        isFirst = !reported
        reported = true
      }
      // A run opens the store several times, and one note is enough.
      guard isFirst else { return }
      let reason =
        error.map { "cannot write \($0)" }
        ?? "no state folder: \(lack)"
      report(
        "\(reason); if this command is killed, run 'urlcache-admin check CACHE --repair'"
          + " to remove the files that it leaves behind"
      )
    }
  }

  /// Returns why this user has no folder for the state of the program.
  private static func lackOfStateFolder(_ variable: (String) -> String?) -> String {
    if let home = variable("HOME"), home.utf8.first == UInt8(ascii: "/") {
      do throws(FileError) { _ = try FileStatus.of(home) } catch {
        if error.kind == .notFound { return "the home folder '\(home)' does not exist" }
      }
    }
    return "HOME is not set, or the home folder belongs to another user"
  }

  /// Returns the folder for the state of the program; `nil` if this user has none.
  static func stateFolder(_ variable: (String) -> String?) -> String? {
    func folder(_ name: String) -> String? {
      // systemd may set several folders, separated by colons.
      let value = variable(name)?.utf8.split(separator: UInt8(ascii: ":")).first
      guard let value, value.first == UInt8(ascii: "/") else { return nil }
      return String(decoding: Array(value), as: UTF8.self)
    }
    // An explicit choice of the user goes before that of systemd.
    if let folder = variable("XDG_STATE_HOME"), folder.utf8.first == UInt8(ascii: "/") {
      return "\(folder)/urlcache-admin"
    }
    if let folder = folder("STATE_DIRECTORY") { return folder }
    // Do not use the home folder of another user, as with sudo: files of root there would block that user later.
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
  /// Removes the files that an interrupted command left in a cache, if this command may change the cache.
  ///
  /// Called before planning, because an empty plan never opens the cache for writing.
  func finishIntents(
    of cache: CacheOptions, at path: String? = nil, in environment: CommandEnvironment
  ) throws {
    // A command that will be refused, because there is nobody to ask, must not have changed
    // anything before.
    guard !dryRun, yes || environment.isInputTerminal else { return }
    environment.finishIntents(
      at: try path ?? cache.path(in: environment), waiting: cache.waitMilliseconds)
  }
}
