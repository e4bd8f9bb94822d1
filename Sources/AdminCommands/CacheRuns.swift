import Administration
import ResponseStorage

/// The runs of a command: one, or one for each cache that has a name.
struct CacheRuns {
  private let line: CommandLineWords
  private var environment: CommandEnvironment

  init(_ line: CommandLineWords, in environment: CommandEnvironment) {
    (self.line, self.environment) = (line, environment)
  }

  /// Runs the command, also for the rest of the caches after one that failed.
  ///
  /// - Returns: The status of the first that failed, or else the lowest that is not 0.
  mutating func run() throws -> ExitStatus {
    var records: [RunRecord] = []
    do {
      environment.configuration = try environment.readingConfiguration(line.configurationFile)
      try environment.configuration.checkAll(in: environment)
      let caches = line.isForAllCaches ? try names() : [nil]
      records = caches.compactMap { record($0) }
      // Each cache without limits was passed over, and there was no other.
      if records.isEmpty { throw CommandFailure.noLimits }
    } catch {
      // That nothing was done is written down, too.
      records += [record(nil) { _, _ in throw error }].compactMap { $0 }
    }
    do { try environment.write(records, of: line) } catch {
      let status = URLCacheAdmin.report(error, asJSON: line.asksForJSON, in: environment)
      return records.first { $0.status.isFailure }?.status ?? status
    }
    let answers = records.map(\.status).filter { $0 != .done }.map(\.rawValue)
    return records.first { $0.status.isFailure }?.status
      ?? answers.min().flatMap(ExitStatus.init) ?? .done
  }

  /// The names of all caches that have one.
  private func names() throws -> [String?] {
    try line.checkAllCaches()
    let names = environment.configuration.cacheNames
    guard !names.isEmpty else {
      throw CommandFailure(
        .configuration, kind: "configuration", "no cache has a name in the configuration",
        hint: "see which files are read with 'urlcache-admin config list'")
    }
    return names
  }

  /// Runs the command once, and writes down what came of it.
  ///
  /// - Parameters:
  ///   - name: The cache that the command is run for, of all; `nil` if it is run for one.
  ///   - run: What is run.
  /// - Returns: `nil` for one of all caches that the command has nothing to do for.
  private func record(
    _ name: String?,
    _ run: (CommandLineWords, CommandEnvironment) throws -> ExitStatus = {
      try URLCacheAdmin.run($0, in: $1)
    }
  ) -> RunRecord? {
    var environment = environment
    let line = (name.map { self.line.forCache($0) } ?? self.line).configured(
      by: environment.configuration)
    let record = RunRecord(
      cache: name ?? environment.configuration.cacheName(in: line) ?? "unknown")
    environment.record = record
    if let name { environment.note("cache '\(name)'") }
    record.start = environment.steadyMilliseconds()
    do { record.status = try run(line, environment) } catch let failure as CommandFailure
      where failure.kind == CommandFailure.noLimits.kind && name != nil
    {
      environment.note("skipped, as it has no limits and no rules")
      return nil
    } catch {
      record.status = URLCacheAdmin.report(error, asJSON: line.asksForJSON, in: environment)
    }
    record.durationSeconds = Double(environment.steadyMilliseconds() - record.start) / 1_000
    record.end = Timestamp(secondsSince1970: Double(environment.secondsNow()))
    return record
  }
}

extension Configuration {
  /// What a command calls its cache.
  fileprivate func cacheName(in line: CommandLineWords) -> String? {
    line.value(of: "-c") ?? line.value(of: "--cache") ?? value(of: .cache, forCache: nil)?.text
  }
}

extension ExitStatus {
  /// Whether something went wrong; an answer did not.
  fileprivate var isFailure: Bool { rawValue >= ExitStatus.usage.rawValue }
}
