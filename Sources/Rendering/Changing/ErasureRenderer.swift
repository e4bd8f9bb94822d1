import Administration
import Bytes
import JSON

/// Renders what a command with `--secure` did after its removals.
struct ErasureRenderer {
  let receipt: ErasureReceipt

  /// Writes the member `secure`.
  func write(to json: inout JSONWriter) {
    json.object("secure") {
      $0.member("in_use", receipt.inUse)
      $0.member("complete", receipt.isDone ? receipt.isComplete : nil)
      $0.member("overwritten", receipt.isDone ? receipt.isErased : nil)
      $0.member("log_bytes", receipt.isDone ? receipt.logBytes : nil)
      $0.member("free_bytes", receipt.isDone ? receipt.freeBytes : nil)
      $0.member("linked_files", receipt.linkedFiles)
      $0.member("kept_orphans", receipt.keptOrphans)
      $0.member("failure", receipt.failure)
      let report = receipt.report
      $0.member("texts", report?.texts)
      $0.member("texts_too_short", report?.tooShort)
      $0.member("texts_too_many", report?.tooMany)
      $0.member("texts_in_entries", report?.sharedTexts)
      $0.member("entries_with_texts", report?.sharingEntries)
      $0.member("files", report?.files)
      $0.member("traces", report?.traces)
      $0.array("places", objects: report?.places ?? []) {
        $0.member("file", utf8OrBase64: $1.file)
        $0.member("traces", $1.traces)
        $0.member("offset", $1.offset)
      }
    }
  }

  /// Appends lines for people.
  func appendText(into buffer: inout TextBuffer) {
    guard receipt.isDone else {
      appendPlan(into: &buffer)
      return
    }
    if let failure = receipt.failure {
      buffer.append(
        receipt.isErased
          ? "The files were not searched for traces: "
          : receipt.hasDatabase ? "The database was not rewritten: " : "Ended by an error: ")
      buffer.append(shown: ByteString(failure))
      buffer.append("\n")
    } else if receipt.isStopped {
      let rest = receipt.hasDatabase ? "The database was not rewritten" : "Not all was overwritten"
      buffer.append("\(rest), because the command was stopped\n")
    } else if receipt.isErased {
      buffer.append(
        receipt.hasDatabase
          ? "Overwrote removed body files, and rewrote the database and its log\n"
          : "Overwrote removed files\n")
    }
    if !receipt.isErased, receipt.hasDatabase { appendRemainder(into: &buffer) }
    if receipt.linkedFiles > 0 {
      buffer.append("Not overwritten, because they have other names (hard links): ")
      buffer.append(counted: Int64(receipt.linkedFiles), "body file", "body files")
      buffer.append("\n")
    }
    if receipt.keptOrphans > 0 {
      buffer.append("Kept, because an app may be about to store their entries: ")
      buffer.append(counted: receipt.keptOrphans, "orphan", "orphans")
      buffer.append("\n")
    }
    if let report = receipt.report { append(report, into: &buffer) }
  }

  private func appendPlan(into buffer: inout TextBuffer) {
    if receipt.isSkipped {
      buffer.append(
        receipt.isPlanned
          ? "Would overwrite nothing, because nothing would be removed"
          : "Overwrote nothing, because nothing was removed")
      buffer.append("; run 'compact --secure' to overwrite what earlier removals left behind\n")
    } else if !receipt.hasDatabase {
      buffer.append("Would overwrite removed files, and search all files for traces\n")
    } else if receipt.inUse {
      buffer.append(
        "Would overwrite what it can without blocking the process that has the cache open, and"
          + " exit with status 3\n")
    } else {
      buffer.append(
        "Would overwrite removed body files, rewrite the database and its log, and search all"
          + " files for traces\n")
    }
  }

  private func appendRemainder(into buffer: inout TextBuffer) {
    buffer.append(
      receipt.inUse ? "May remain while another process has the cache open: " : "May remain: ")
    if receipt.logBytes > 0 {
      buffer.append(byteCount: receipt.logBytes)
      buffer.append(" in the write-ahead log, ")
    }
    if receipt.freeBytes > 0 {
      buffer.append(byteCount: receipt.freeBytes)
      buffer.append(" in free pages, ")
    }
    buffer.append("unused space inside other pages\n")
  }

  private func append(_ report: TraceReport, into buffer: inout TextBuffer) {
    if report.texts == 0 {
      buffer.append("Not verified: there is nothing to search the files for\n")
    } else {
      buffer.append("Verified: found ")
      if !report.countsAllTraces, report.traces > 0 { buffer.append("at least ") }
      buffer.append(counted: report.traces, "trace", "traces")
      buffer.append(" of ")
      buffer.append(counted: Int64(report.texts), "text", "texts")
      buffer.append(" from ")
      buffer.append(counted: Int64(report.entries), "removed entry", "removed entries")
      buffer.append(" in ")
      buffer.append(counted: Int64(report.files), "file", "files")
      buffer.append("\n")
    }
    for place in report.places {
      buffer.append("  ")
      buffer.append(shown: place.file)
      buffer.append(": ")
      if !report.countsAllTraces { buffer.append("at least ") }
      buffer.append(counted: place.traces, "trace", "traces")
      buffer.append(", the first at byte ")
      buffer.append(grouped: place.offset)
      buffer.append("\n")
    }
    if report.sharedTexts > 0 {
      buffer.append("Not counted: ")
      buffer.append(counted: Int64(report.sharedTexts), "text", "texts")
      buffer.append(report.sharedTexts == 1 ? " that is also in " : " that are also in ")
      if !report.countsAllSharing { buffer.append("at least ") }
      buffer.append(counted: Int64(report.sharingEntries), "entry", "entries")
      buffer.append(report.sharingEntries == 1 ? " that remains\n" : " that remain\n")
    }
    if report.tooShort > 0 {
      buffer.append("Not searched for, because they are too short: ")
      buffer.append(counted: Int64(report.tooShort), "text", "texts")
      buffer.append("\n")
    }
    if report.tooMany > 0 {
      buffer.append("Not searched for, because there are too many: ")
      buffer.append(counted: Int64(report.tooMany), "text", "texts")
      buffer.append("\n")
    }
  }
}
