public import Administration
import Bytes
import JSON
import ResponseStorage

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
