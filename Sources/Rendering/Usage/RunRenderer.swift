public import Administration

/// What a command did, as a line of a log.
public enum RunRenderer {
  /// One line with a JSON object.
  ///
  /// - Parameters:
  ///   - verb: The command.
  ///   - status: What it ended with.
  ///   - message: What ended it early, or why it was skipped.
  ///   - metrics: What it did, and to which cache.
  public static func json(
    verb: String, status: Int, message: String?, metrics: CacheMetrics
  ) -> TextBuffer {
    var buffer = TextBuffer()
    buffer.append("{\"schema\":\"urlcache-admin.log/1\",\"time\":")
    buffer.append(json: metrics.run.map { TimeText.text($0.time) })
    buffer.append(",\"verb\":")
    buffer.append(json: verb)
    buffer.append(",\"cache\":")
    buffer.append(json: metrics.cache)
    buffer.append(",\"status\":")
    buffer.append(integer: Int64(status))
    buffer.append(",\"duration_seconds\":")
    buffer.append(metrics.run.map { MetricsRenderer.milliseconds($0.durationSeconds) } ?? "null")
    buffer.append(",\"removed_entries\":")
    buffer.append(json: metrics.run?.removedEntries)
    buffer.append(",\"removed_bytes\":")
    buffer.append(json: metrics.run?.removedBytes)
    buffer.append(",\"left\":")
    buffer.append(json: metrics.run?.left)
    buffer.append(",\"skipped\":")
    buffer.append(metrics.run.map { $0.isSkipped ? "true" : "false" } ?? "null")
    buffer.append(",\"message\":")
    buffer.append(json: message)
    buffer.append("}\n")
    return buffer
  }
}
