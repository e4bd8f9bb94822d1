import Administration
import Bytes
import Files
import Rendering
import ResponseStorage

extension CommandEnvironment {
  /// The time after which a worker that measures a cache is ended, in milliseconds.
  private static let longestMeasuring: Int64 = 600_000

  /// Writes metrics to a file that all users can read; it appears complete or not at all.
  func writeMetrics(_ metrics: [CacheMetrics], to path: String) throws(CommandFailure) {
    // Checked again, since a long time may have passed since the check before the run, and the file
    // is replaced without a question.
    try CommandFailure.requireMetrics(at: path)
    do throws(FileError) {
      var file = try NewFile(at: path, replacing: true)
      try file.write(MetricsRenderer.text(metrics).bytes)
      // node_exporter runs as a user of its own. It reads the folder at any moment, so the file
      // must never be there in part.
      try file.commit(replacing: true, isReadableByAll: true)
    } catch {
      throw CommandFailure(writingMetrics: error, to: path)
    }
  }

  /// Measures a cache.
  ///
  /// - Parameters:
  ///   - name: The name of the cache, or its path.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  ///   - isIsolated: Whether a worker measures it, also if it is a cache of this user.
  func metrics(
    ofCache name: String, capacity: ByteCount?,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known, isIsolated: Bool = false
  ) throws -> CacheMetrics {
    var metrics = CacheMetrics(cache: name)
    metrics.capacityBytes = capacity
    let path = configuration.path(ofCache: name)?.text ?? name
    if let isolation, case let user = try isolation(path), user != nil || isIsolated {
      var order = WorkerOrder()
      order.task = .measure(capacity: capacity, rules: expiryRules)
      (order.name, order.ownPath) = (path, user == nil ? nil : absolutePath(path))
      order.now = now.secondsSince1970
      order.millisecondsLeft = Self.longestMeasuring
      var worker = try WorkerProcess(of: user, allowing: .init(), in: self)
      var result = try worker.run(order)
      if try result.number() != 0 { metrics.usage = try UsageReport(&result) }
      return metrics
    }
    // The usual wait for a lock, as this command has no option for it.
    let source = try openSource(path, 5_000, now).source
    metrics.usage = try UsageReport(
      of: source, by: .freshness, capacityBytes: capacity, now: now, expiryRules: expiryRules,
      clock: now)
    try source.finish()
    return metrics
  }

  /// Returns the capacity of a cache according to the configuration.
  func capacity(ofCache name: String) -> ByteCount? {
    let value =
      configuration.value(of: .capacity, forCache: name)
      // A maximum that this program enforces says as much about how full a cache is as the capacity
      // of the app.
      ?? configuration.value(of: .maxSize, forCache: name)
    return value.flatMap { try? WrittenValue.size($0.text) }
  }

  /// Returns the metrics of a cache after a run, with the result of the run.
  func metrics(of record: RunRecord) -> CacheMetrics {
    let capacity = record.capacityBytes ?? capacity(ofCache: record.cache)
    // An unreadable cache has no usage, but the failed run is still reported.
    var metrics = CacheMetrics(cache: record.cache)
    metrics.capacityBytes = capacity
    // What has taken one worker down would take the next one down, too.
    if !record.isLost,
      let measured = try? self.metrics(
        ofCache: record.cache, capacity: capacity, expiryRules: record.expiryRules,
        isIsolated: record.isIsolated)
    {
      metrics = measured
    }
    // After the measuring, so that the contents are those that the run left behind.
    metrics.run = runMetrics(of: record).run
    return metrics
  }

  /// Returns the metrics of a run.
  func runMetrics(of record: RunRecord) -> CacheMetrics {
    var metrics = CacheMetrics(cache: record.cache)
    metrics.run = CacheMetrics.Run(
      time: record.end ?? now, isSuccess: record.status == .done,
      durationSeconds: record.durationSeconds, removedEntries: record.removedEntries,
      removedBytes: record.removedBytes, left: record.left, isSkipped: record.isSkipped)
    return metrics
  }
}

extension CommandEnvironment {
  /// Searches for stores as root: in the folders of root itself, and in those of each other user by a worker.
  func findingStoresOfOthers(_ search: StoreSearch) throws -> Discovery {
    var users: Set<UInt32> = []
    var discovery = try StoreFinder.discovery(
      by: search, ofUser: CurrentProcess.user, others: &users)
    for user in users.sorted() {
      var order = WorkerOrder()
      var rest = search
      rest.needsFolders = false
      rest.folders = search.folders.map { absolutePath($0) }
      order.task = .find(rest)
      order.now = now.secondsSince1970
      do {
        var worker = try WorkerProcess(of: user, allowing: .init(), in: self)
        var result = try worker.run(order)
        guard try result.number() == 0 else { continue }
        discovery.add(try Discovery(&result))
      } catch let failure as CommandFailure {
        // One user cannot hide the caches of others.
        if failure.status == .noPermission { throw failure }
        note("the caches of user \(user) were not searched: \(failure.message)")
      }
    }
    return discovery
  }
}
