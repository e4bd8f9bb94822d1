public import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the result of a command as a line of a log.
public enum RunRenderer {
  /// Returns one line with a JSON object.
  ///
  /// - Parameters:
  ///   - verb: The command.
  ///   - status: The exit status.
  ///   - message: The error that ended the command, or the reason why it was skipped.
  ///   - metrics: The result of the command, and its cache.
  public static func json(
    verb: String, status: Int, message: String?, metrics: CacheMetrics
  ) -> TextBuffer {
    var buffer = TextBuffer()
    let run = metrics.run
    buffer.writeJSON(schema: "log") {
      $0.member("time", run?.time)
      $0.member("verb", verb)
      $0.member("cache", metrics.cache)
      $0.member("status", status)
      $0.key("duration_seconds")
      if let run {
        // As in the metrics, so that both can be compared as text.
        $0.number(MetricsRenderer.milliseconds(run.durationSeconds))
      } else {
        $0.null()
      }
      $0.member("removed_entries", run?.removedEntries)
      $0.member("removed_bytes", run?.removedBytes)
      $0.member("left", run?.left)
      $0.member("skipped", run?.isSkipped)
      $0.member("message", message)
    }
    return buffer
  }

  /// Whether bytes begin with a line of a log.
  public static func isLog(_ bytes: [UInt8]) -> Bool {
    let schema = JSONWriter.bytes(.hostileText) { $0.object { $0.member(schema: "log") } }
    // Without the closing brace, the object of the schema is the beginning of every line.
    return bytes.starts(with: schema.dropLast())
  }
}

/// Renders a run that did nothing, in place of the usual result of a command.
public enum SkippedRunRenderer {
  /// Appends one JSON object.
  public static func appendJSON(_ run: SkippedRun, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "skipped") {
      $0.member("verb", run.verb)
      $0.member("cache", run.cache)
      $0.member("reason", run.reason.rawValue)
      $0.member("message", run.message)
    }
  }

  /// Appends a line for people.
  public static func appendText(_ run: SkippedRun, into buffer: inout TextBuffer) {
    // A run that did nothing must say so: with exit status 0 and no output it would look like one
    // with nothing to do.
    buffer.append("Skipped: ")
    buffer.append(shown: ByteString(run.message))
    buffer.append("\n")
  }
}
