import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the changes to sidecar files, as a part of the result for their cache.
struct SidecarRenderer {
  private static let namesForPeople = 10

  /// Whether this is a dry run, which changes nothing.
  var isDryRun: Bool

  /// Writes the member `sidecars`, with every name.
  func write(_ changes: SidecarChanges, to json: inout JSONWriter) {
    json.object("sidecars") {
      // Names of sidecar files are digests or numbers of ASCII, or they would not be sidecar files.
      $0.member("removed", changes.removed.compactMap(\.string))
      $0.member("written", changes.written.compactMap(\.string))
      $0.member("skipped", changes.skipped)
    }
  }

  /// Appends lines for people: how many, and in a dry run the first names.
  func appendText(_ changes: SidecarChanges, into buffer: inout TextBuffer) {
    // If nothing was done, a line must say so: the user asked for sidecar files to be looked after.
    if !changes.removed.isEmpty || changes.written.isEmpty {
      append(changes.removed, isDryRun ? "Would remove " : "Removed ", into: &buffer)
    }
    if !changes.written.isEmpty {
      append(changes.written, isDryRun ? "Would write " : "Wrote ", into: &buffer)
    }
    if changes.skipped > 0 {
      buffer.append("Skipped sidecar files that changed, or whose entries changed: ")
      buffer.append(grouped: Int64(changes.skipped))
      buffer.append("\n")
    }
  }

  private func append(_ names: [ByteString], _ verb: String, into buffer: inout TextBuffer) {
    buffer.append(verb)
    buffer.append(counted: Int64(names.count), "sidecar file\n", "sidecar files\n")
    // Before the change, the names tell whether the right files were found. Afterwards, the number
    // is enough.
    guard isDryRun else { return }
    for name in names.prefix(Self.namesForPeople) {
      buffer.append("  ")
      buffer.append(shown: name)
      buffer.append("\n")
    }
    if names.count > Self.namesForPeople {
      buffer.append("  ")
      buffer.append(grouped: Int64(names.count - Self.namesForPeople))
      buffer.append(" more\n")
    }
  }
}
