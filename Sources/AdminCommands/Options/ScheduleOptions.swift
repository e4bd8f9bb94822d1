import ArgumentParser

/// The options for unattended runs: from a timer, on many machines, while another process may be using the cache.
struct ScheduleOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "First wait for a random time, up to this; not with '--dry-run'.", valueName: "duration"),
    transform: parseDuration)
  var splay: Double = 0

  @Option(
    help: ArgumentHelp(
      "If the cache is in use: fail, skip (end with 0, and say so), or wait (try again and again).",
      valueName: "what"))
  var ifBusy = BusyResponse.fail

  @Option(
    help: ArgumentHelp(
      "Stop after what is in hand once it has run for so long; ends with 3 if something is left.",
      valueName: "duration"),
    transform: parseDuration)
  var maxRuntime: Double?

  func validate() throws {
    // A run that never does anything and always ends with 3 is hardly meant.
    if maxRuntime == 0 { throw ValidationError("'--max-runtime' must be more than zero.") }
  }

  /// Rejects options that do not allow a second attempt.
  func check(with planning: PlanOptions) throws {
    guard ifBusy != .wait || planning.backup == nil else {
      throw ValidationError(
        "'--if-busy wait' begins anew, and '--backup' writes its archive once: wait for the lock with '--wait'."
      )
    }
  }
}

/// The reaction to a cache that is in use.
enum BusyResponse: String, CaseIterable, ExpressibleByArgument {
  case fail, skip, wait
}
