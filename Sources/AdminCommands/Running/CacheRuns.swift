import Administration
import ArgumentParser
import Bytes
import Files
import ResponseStorage

/// The runs of a command: one, or one for each named cache.
struct CacheRuns {
  private var command: any ConfiguredCommand
  private var environment: CommandEnvironment

  init(of command: any ConfiguredCommand, in environment: CommandEnvironment) {
    (self.command, self.environment) = (command, environment)
  }

  /// Runs the command; continues with the other caches after a failure.
  ///
  /// - Returns: The status of the first failed run, or else the lowest status that is not 0.
  mutating func run() -> ExitStatus {
    // The configuration first, as it may name the log.
    let problem = prepare()
    if let job = environment.job { return work(job, problem) }
    let recorder: RunRecorder
    do {
      recorder = try RunRecorder(of: problem == nil ? recorded() : command, in: environment)
    } catch { return report(error) }
    let records = records(problem)
    noteMissingBackup(after: records)
    defer { for record in records.reversed() { record.releaseSignals() } }
    do { try recorder.write(records, in: environment) } catch {
      // A failed run is more important than a failure to record it.
      let status = report(error)
      return records.first { $0.status.isFailure }?.status ?? status
    }
    let absences = absentEverywhere(records)
    environment.reportAbsences(absences)
    let answers = (records.map(\.status) + (absences.isEmpty ? [] : [.no])).filter { $0 != .done }
      .map(\.rawValue)
    return records.first { $0.status.isFailure }?.status
      ?? answers.min().flatMap(ExitStatus.init) ?? .done
  }

  /// Says that there was nothing to back up: a user may rely on the archive.
  private func noteMissingBackup(after records: [RunRecord]) {
    guard !command.isDryRun, !records.contains(where: { $0.status.isFailure }) else { return }
    for file in command.newFiles
    where file.option == "--backup" && (try? FileStatus.of(file.path)) == nil {
      environment.note(
        "no entry was removed or changed, so no backup was written to '\(file.path)'")
    }
  }

  /// Does what a worker was started for, and hands over the record of it.
  private func work(_ job: WorkerJob, _ problem: (any Error)?) -> ExitStatus {
    let record = record(job.name) {
      if let problem { throw problem }
      try job.isOwn()
      return try $0.runWhileUnchanged(in: $1)
    }
    job.finish(record)
    record?.releaseSignals()
    return record?.status ?? .done
  }

  /// Returns a message for each requested name that no cache has; none if a run failed, because its cache might have
  /// it.
  private func absentEverywhere(_ records: [RunRecord]) -> [String] {
    guard !records.contains(where: { $0.status.isFailure }), let first = records.first else {
      return []
    }
    let others = records.dropFirst().map { Set(($0.absences ?? []).map(\.name)) }
    return (first.absences ?? []).filter { absence in
      others.allSatisfy { $0.contains(absence.name) }
    }.map(\.sentence)
  }

  /// Reads the configuration, and takes the operands.
  ///
  /// - Returns: Why that failed, which is recorded as a failed run; `nil` if it did not.
  private mutating func prepare() -> (any Error)? {
    do {
      environment.configuration = try environment.readingConfiguration(command.cache.config)
      try environment.configuration.checkAll(in: environment)
      let isOption = command.cache.cache != nil
      try command.takeOperands(in: environment)
      if !command.runsForAllCaches {
        try command.locateCache(isOption: isOption, in: &environment)
        try joinSections()
      }
      return nil
    } catch { return error }
  }

  /// Returns the command with the configured log and metrics file, which are the same for all caches.
  private func recorded() -> any ConfiguredCommand {
    var command = command
    command.fill(from: environment.configuration.settings(forCache: nil))
    return command
  }

  private mutating func records(_ problem: (any Error)?) -> [RunRecord] {
    var records: [RunRecord] = []
    do {
      if let problem { throw problem }
      records = try names().compactMap { name in
        record(name) { try work($0, on: name, in: $1) }
      }
      // All caches were skipped, because none has limits.
      if records.isEmpty { throw CommandFailure.noLimits }
    } catch {
      // Record also that nothing was done.
      records += [record(nil, announcing: false) { _, _ in throw error }].compactMap { $0 }
    }
    return records
  }

  /// Returns the names of the caches to run the command for; `nil` stands for the cache that the command names.
  private mutating func names() throws(CommandFailure) -> [String?] {
    guard command.runsForAllCaches else { return [nil] }
    try command.cache.refuseName()
    if let file = command.newFiles.first {
      throw .usage(
        "'\(file.option)' names one file, but '--all-caches' needs one for each cache",
        hint: "run the command once for each cache, with '-c NAME'")
    }
    let names = environment.configuration.cacheNames
    guard !names.isEmpty else {
      throw CommandFailure(
        .configuration, kind: "configuration", "the configuration names no caches",
        hint: "name a cache with: urlcache-admin config set caches.NAME.path PATH")
    }
    guard VerbSynonyms.changing.contains(type(of: command)._commandName) else { return names }
    return try namesOfDifferentCaches(names)
  }

  /// Joins the sections of a cache that is changed and given by its path.
  private mutating func joinSections() throws(CommandFailure) {
    guard VerbSynonyms.changing.contains(type(of: command)._commandName),
      let path = command.cache.cache, environment.configuration.path(ofCache: path) == nil
    else { return }
    _ = try namesOfDifferentCaches(environment.places.configuredNames(ofCacheAt: path))
  }

  /// Returns one name of each cache, which is changed once: what each of its names keeps is kept.
  private mutating func namesOfDifferentCaches(
    _ names: [String]
  ) throws(CommandFailure) -> [String] {
    let configuration = environment.configuration
    var others: [String: [String]] = [:]
    var firsts: [String] = []
    for name in names {
      let same =
        configuration.path(ofCache: name).map { environment.places.names(ofCacheAt: $0.text) } ?? []
      guard let first = same.first, first != name else {
        firsts.append(name)
        continue
      }
      guard
        configuration.settings(forCache: name).hasLimits(
          of: configuration.settings(forCache: first))
      else {
        throw CommandFailure(
          .configuration, kind: "configuration",
          "'\(first)' and '\(name)' are the same cache, but have different limits",
          hint: "give both sections the same limits, or remove one of them")
      }
      if environment.job == nil { environment.note("'\(name)' is the same cache as '\(first)'") }
      others[first, default: []].append(name)
    }
    if !others.isEmpty { environment.configuration.otherNames = others }
    return firsts
  }

  /// Says which cache the messages that follow are about: each of all caches, or one with settings that is given by its path.
  ///
  /// A timer or cron sends whatever is on standard error to somebody: there, the receipts that follow are on standard
  /// output, and so is their heading.
  private func announce(
    _ cache: String, to command: any ConfiguredCommand, in environment: CommandEnvironment
  ) {
    guard command.outputPurpose == .receipt, !environment.isMessageTerminal else {
      return environment.note("cache \(cache)")
    }
    // JSON names its cache itself.
    if !command.writesJSON, !command.isQuiet {
      try? environment.write(Array("Cache \(printable(cache))\n".utf8))
    }
  }

  /// Whether the command changes a cache that is given by its path, but has settings of its own.
  private func usesSettings(ofSection name: String) -> Bool {
    let configuration = environment.configuration
    let word = command.cache.cache ?? configuration.value(of: .cache, forCache: nil)?.text
    guard VerbSynonyms.changing.contains(type(of: command)._commandName),
      word.map({ configuration.path(ofCache: $0) == nil }) ?? true
    else { return false }
    return configuration.settings(forCache: name) != configuration.settings(forCache: nil)
      || configuration.files.contains { !($0.cache(named: name)?.rules ?? []).isEmpty }
  }

  /// Runs the command once, and records the result.
  ///
  /// - Parameters:
  ///   - name: The name of the cache in a run for all caches; `nil` in a run for one.
  ///   - announcing: Whether to say which cache it is.
  ///   - run: The work to do.
  /// - Returns: `nil` if the command has nothing to do for this one of all caches.
  private func record(
    _ name: String?, announcing: Bool = true,
    _ run: (any ConfiguredCommand, CommandEnvironment) throws -> ExitStatus
  ) -> RunRecord? {
    var environment = environment
    // Its settings take precedence over those for all caches, even if the command line has its path.
    let section = name ?? command.configuredName(in: environment)
    let settings = environment.configuration.settings(forCache: section)
    let command = command.configured(by: settings, forCache: name)
    let record = RunRecord(
      cache: section ?? command.cache.cache
        ?? environment.configuration.value(of: .cache, forCache: nil)?.text ?? "unknown")
    environment.record = record
    // In a run for all caches, an absent name is reported only if no cache has it.
    if name != nil { record.absences = [] }
    // Before the messages of the run, which do not all name their cache.
    if announcing, environment.job == nil, let section {
      if name != nil {
        announce("'\(section)'", to: command, in: environment)
      } else if usesSettings(ofSection: section) {
        announce(
          "'\(section)': settings of [caches.\(section)] apply", to: command, in: environment)
      }
    }
    record.start = environment.steadyMilliseconds()
    do {
      record.status = try command.runKeepingStatus(in: environment) { try run(command, $0) }
    } catch let failure as CommandFailure
      where failure.kind == CommandFailure.noLimits.kind && name != nil
    {
      if environment.job == nil {
        environment.note("skipped '\(name ?? "")': no limits and no rules are configured")
      }
      return nil
    } catch {
      record.status = URLCacheAdmin.report(error, asJSON: command.writesJSON, in: environment)
    }
    if let recorded = command.recorded {
      record.capacityBytes = recorded.capacityBytes
      record.expiryRules = recorded.expiryRules
    }
    // By the monotonic clock: the other one may be set while a command runs.
    record.durationSeconds = Double(environment.steadyMilliseconds() - record.start) / 1_000
    record.end = Timestamp(secondsSince1970: Double(environment.secondsNow()))
    return record
  }

  /// Does the work on a cache, or has a worker do it: as root, on the cache of another user, and of several caches on each.
  private func work(
    _ command: any ConfiguredCommand, on name: String?, in environment: CommandEnvironment
  ) throws -> ExitStatus {
    guard let isolation = environment.isolation, let path = try command.workedPath(in: environment)
    else { return try command.runWhileUnchanged(in: environment) }
    let user = try isolation(path)
    // What is not there cannot take others down. As root, no cache that appears now is opened either, if it is not root's.
    guard user != nil || name != nil && (try? FileStatus.of(path)) != nil else {
      return try command.runWhileUnchanged(in: environment)
    }
    var environment = environment
    if let schedule = command.scheduling,
      environment.schedule.begin(schedule, waiting: !command.isDryRun, in: environment)
    {
      environment.refreshNow()
      environment.record.start = environment.steadyMilliseconds()
    }
    // So that what it has done is recorded, whatever comes.
    if !command.onlyLooks { environment.record.holdSignals() }
    let start = environment.steadyMilliseconds()
    defer { environment.schedule.extend(since: start, to: environment.steadyMilliseconds()) }
    var order = WorkerOrder()
    (order.words, order.name) = (environment.words, name)
    order.ownPath = user == nil ? nil : absolutePath(path)
    order.now = environment.now.secondsSince1970
    order.millisecondsLeft = environment.schedule.millisecondsLeft(at: start)
    order.take(environment)
    order.otherNames = name.flatMap { environment.configuration.otherNames[$0] } ?? []
    let outputs = command.newFiles.map(\.path) + command.outputs
    environment.record.isIsolated = true
    environment.record.isLost = true
    var worker = try WorkerProcess(
      of: user, allowing: .init(inputs: Set(command.inputs), outputs: Set(outputs)),
      in: environment)
    var result = try worker.run(order)
    environment.record.isLost = false
    guard try result.number() != 0 else { throw CommandFailure.noLimits }
    try environment.record.read(&result)
    return environment.record.status
  }

  private func report(_ error: any Error) -> ExitStatus {
    URLCacheAdmin.report(error, asJSON: command.writesJSON, in: environment)
  }
}

extension ConfiguredCommand {
  /// Runs the command when it is due. If it only looks, it looks again within the time to wait when the cache changed while
  /// it was read, unless something of what it read can be seen already.
  fileprivate func runWhileUnchanged(in environment: CommandEnvironment) throws -> ExitStatus {
    guard onlyLooks else { return try runWhenDue(in: environment) }
    let end = environment.steadyMilliseconds() + Int64(cache.waitMilliseconds)
    var hasWritten = false
    var messages: Set<String> = []
    while true {
      var watched = environment
      // What was said before the change is not said again.
      let earlier = messages
      watched.writeMessage = {
        if !earlier.contains($0) { environment.writeMessage($0) }
        messages.insert($0)
      }
      watched.write = {
        hasWritten = true
        try environment.write($0)
      }
      do { return try runWhenDue(in: watched) } catch let error as StoreError
        where error.code == .changedWhileReading
      {
        guard !hasWritten, environment.steadyMilliseconds() < end, !HeldSignals.areWaiting else {
          throw error
        }
      }
      environment.pause(20)
    }
  }
}

extension ExitStatus {
  /// Whether the run failed; the answer "no" is no failure.
  var isFailure: Bool { rawValue >= ExitStatus.usage.rawValue }
}
