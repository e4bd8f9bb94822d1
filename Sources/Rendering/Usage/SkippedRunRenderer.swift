public import Administration
import Bytes

/// A run that did nothing, as text: the receipt in the place of what a command says otherwise.
public enum SkippedRunRenderer {
  /// Appends one JSON object.
  public static func appendJSON(_ run: SkippedRun, into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":\"urlcache-admin.skipped/1\",\"verb\":")
    buffer.append(json: run.verb)
    buffer.append(",\"cache\":")
    buffer.append(json: run.cache)
    buffer.append(",\"reason\":")
    buffer.append(json: run.reason.rawValue)
    buffer.append(",\"message\":")
    buffer.append(json: run.message)
    buffer.append("}\n")
  }

  /// Appends a line for people.
  public static func appendText(_ run: SkippedRun, into buffer: inout TextBuffer) {
    buffer.append("Skipped: ")
    buffer.append(shown: ByteString(run.message))
    buffer.append("\n")
  }
}
