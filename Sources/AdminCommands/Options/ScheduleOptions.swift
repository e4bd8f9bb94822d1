import ArgumentParser

/// The options for unattended runs: from a timer, on many machines, while another process may be using the cache.
struct ScheduleOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Wait a random time, at most this long, before starting; not with '--dry-run'.",
      valueName: "duration"),
    transform: parseDuration)
  var splay: Double = 0

  @Option(
    help: ArgumentHelp(
      "If the cache is locked: fail, skip (report it and exit with status 0), or wait (keep"
        + " trying).", valueName: "what"))
  var ifBusy = BusyResponse.fail

  @Option(
    help: ArgumentHelp(
      "Stop after the current batch once this time has passed; exit with status 3 if work remains.",
      valueName: "duration"),
    transform: parseDuration)
  var maxRuntime: Double?

  func validate() throws {
    // A run that never does anything and always ends with 3 is hardly meant.
    if maxRuntime == 0 { throw ValidationError("'--max-runtime' must be more than zero.") }
  }

  /// Rejects options that do not allow a second attempt.
  func check(with backingUp: BackupOptions) throws {
    guard ifBusy != .wait || backingUp.backup == nil else {
      throw ValidationError(
        "'--if-busy wait' cannot be combined with '--backup', which is written only once. Use '--wait'."
      )
    }
  }
}

/// The reaction to a cache that is in use.
enum BusyResponse: String, CaseIterable, ExpressibleByArgument {
  case fail, skip, wait
}
