import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

/// A command that a timer may run.
protocol ScheduledCommand: AdminCommand {
  /// When it runs, and what it does if it cannot.
  var schedule: ScheduleOptions { get }

  /// Whether it is to change nothing.
  var isDryRun: Bool { get }
}

extension ScheduledCommand {
  /// Runs the command when its turn has come, as often as it takes.
  func runWhenDue(in environment: CommandEnvironment) throws -> ExitStatus {
    var environment = environment
    if environment.schedule.begin(schedule, waiting: !isDryRun, in: environment) {
      environment.refreshNow()
      environment.record.start = environment.steadyMilliseconds()
    }
    if environment.isTimeOver {
      try skip(.maxRuntime, "the time of '--max-runtime' was over before its turn", environment)
      return .partly
    }
    var hasWaited = false
    while true {
      do { return try run(in: environment) } catch let error as StoreError where error.isContention
      {
        switch schedule.ifBusy {
        case .wait:
          if !hasWaited { environment.note("\(error.description); it is tried again") }
          hasWaited = true
          environment.pause(1_000)
          if environment.isTimeOver { throw error }
          environment.refreshNow()
        // What was begun is not skipped.
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

extension StoreError {
  /// Whether it is no fault, but the use of the cache by others, so that trying again may help.
  fileprivate var isContention: Bool { code == .inUse || code == .changedWhileReading }
}

extension CommandEnvironment {
  /// Takes the time of the clock for now, as some has passed.
  fileprivate mutating func refreshNow() {
    now = Timestamp(secondsSince1970: Double(secondsNow())) ?? now
  }
}
