import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

/// A command that a timer may run.
protocol ScheduledCommand: AdminCommand {
  /// The options for the start, and for a cache that is in use.
  var schedule: ScheduleOptions { get }

  /// Whether the command changes nothing.
  var isDryRun: Bool { get }
}

extension ScheduledCommand {
  /// Runs the command when it is due, and repeats it as requested while the cache is in use.
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus {
    var environment = environment
    // Ages must be relative to the time after the wait.
    if environment.schedule.begin(schedule, waiting: !isDryRun, in: environment) {
      environment.refreshNow()
      environment.record.start = environment.steadyMilliseconds()
    }
    if environment.isTimeOver {
      // The runs for other caches have used the time up.
      try skip(.maxRuntime, "'--max-runtime' was reached before this cache's turn", environment)
      // Some caches of the run were handled, and this one was not.
      return .partly
    }
    var hasWaited = false
    while true {
      do { return try run(in: environment) } catch let error as StoreError where error.isContention
      {
        switch schedule.ifBusy {
        case .wait:
          if !hasWaited { environment.note("\(error.description); trying again") }
          hasWaited = true
          environment.pause(1_000)
          // Without `--max-runtime` it waits for ever, which is what the user asked for with
          // `--if-busy wait`.
          if environment.isTimeOver { throw error }
          environment.refreshNow()
        // A command that has removed entries is not skipped.
        case .skip where environment.record.removedEntries == 0:
          try skip(.busy, error.description, environment)
          return .done
        case .fail, .skip: throw error
        }
      }
    }
  }

  private func skip(
    _ reason: SkippedRun.Reason, _ message: String, _ environment: CommandEnvironment
  ) throws {
    environment.record.isSkipped = true
    environment.record.message = message
    let run = SkippedRun(
      verb: Self._commandName, cache: environment.record.cache, reason: reason, message: message)
    var output = OutputBuffer(environment)
    if writesJSON {
      SkippedRunRenderer.appendJSON(run, into: &output.text)
    } else {
      SkippedRunRenderer.appendText(run, into: &output.text)
    }
    try output.flush()
  }
}

extension ConfiguredCommand where Self: ScheduledCommand {
  var scheduling: ScheduleOptions? { schedule }
}

extension CommandEnvironment {
  /// Updates `now` after a wait.
  mutating func refreshNow() {
    now = Timestamp(secondsSince1970: Double(secondsNow())) ?? now
  }
}
