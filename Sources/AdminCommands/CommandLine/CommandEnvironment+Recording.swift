import Administration
import Bytes
import Files
import Rendering
import ResponseStorage

extension CommandEnvironment {
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
  func metrics(
    ofCache name: String, capacity: ByteCount?,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known
  ) throws -> CacheMetrics {
    var metrics = CacheMetrics(cache: name)
    metrics.capacityBytes = capacity
    let path = configuration.path(ofCache: name)?.text ?? name
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
    var metrics =
      (try? metrics(
        ofCache: record.cache, capacity: capacity, expiryRules: record.expiryRules))
      ?? CacheMetrics(cache: record.cache)
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
