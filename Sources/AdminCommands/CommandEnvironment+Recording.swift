import Administration
import Files
import Rendering
import ResponseStorage

extension CommandEnvironment {
  /// Writes down what a command did to caches, where it is wanted.
  ///
  /// - Parameter line: The command.
  func write(_ records: [RunRecord], of line: CommandLineWords) throws {
    guard !records.isEmpty, !line.isDryRun else { return }
    if let path = line.value(of: "--metrics-file") {
      try writeMetrics(records.map { metrics(of: $0, line) }, to: path)
    }
    if let path = line.value(of: "--log") {
      let file = try openLog(path)
      for record in records {
        // One write for each, so that lines of several processes do not mix.
        try file.write(
          RunRenderer.json(
            verb: line.words.first ?? "", status: Int(record.status.rawValue),
            message: record.message, metrics: metrics(of: record)
          ).bytes)
      }
    }
  }

  private func openLog(_ path: String) throws(CommandFailure) -> OpenFile {
    do throws(FileError) { return try OpenFile(appendingTo: path) } catch {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create", "cannot open the log \(error)", path: path)
    }
  }

  /// Writes metrics to a file that appears whole, which everybody may read.
  func writeMetrics(_ metrics: [CacheMetrics], to path: String) throws {
    do {
      var file = try NewFile(at: path, replacing: true)
      try file.write(MetricsRenderer.text(metrics).bytes)
      try file.commit(replacing: true, isReadableByAll: true)
    } catch {
      throw CommandFailure(
        .cannotCreate, kind: "cannot-create", "cannot write the metrics \(error)", path: path)
    }
  }

  /// What is in a cache; without it, if the cache cannot be read.
  ///
  /// - Parameter name: The name of the cache, or its path.
  func metrics(ofCache name: String, capacity: Int64?) throws -> CacheMetrics {
    var metrics = CacheMetrics(cache: name)
    metrics.capacityBytes = capacity
    let path = configuration.path(ofCache: name)?.text ?? name
    let source = try openSource(path, 5_000, now)
    metrics.usage = try UsageReport(
      of: source, by: .freshness, capacityBytes: capacity, now: now)
    try source.finish()
    return metrics
  }

  /// What a cache may take up, as the configuration says it.
  func capacity(ofCache name: String) -> Int64? {
    let value =
      configuration.value(of: .capacity, forCache: name)
      ?? configuration.value(of: .maxSize, forCache: name)
    return value.flatMap { try? WrittenValue.size($0.text) }
  }

  private func metrics(of record: RunRecord, _ line: CommandLineWords) -> CacheMetrics {
    let given = line.value(of: "--capacity") ?? line.value(of: "--max-size")
    let capacity = given.flatMap { try? WrittenValue.size($0) } ?? capacity(ofCache: record.cache)
    // A cache that cannot be read has no usage; that the run failed is told all the same.
    var metrics =
      (try? metrics(ofCache: record.cache, capacity: capacity)) ?? CacheMetrics(cache: record.cache)
    metrics.run = self.metrics(of: record).run
    return metrics
  }

  private func metrics(of record: RunRecord) -> CacheMetrics {
    var metrics = CacheMetrics(cache: record.cache)
    metrics.run = CacheMetrics.Run(
      time: record.end ?? now, isSuccess: record.status == .done,
      durationSeconds: record.durationSeconds, removedEntries: record.removedEntries,
      removedBytes: record.removedBytes, left: record.left, isSkipped: record.isSkipped)
    return metrics
  }
}
