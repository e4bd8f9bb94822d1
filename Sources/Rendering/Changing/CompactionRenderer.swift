public import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the result of a compaction.
public enum CompactionRenderer {
  /// Appends one JSON object.
  public static func appendJSON(_ compaction: Compaction, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "compact") {
      // No method was chosen, because a dry run does not open the cache for writing.
      $0.member("dry_run", compaction.method == nil)
      $0.member("cache", compaction.store)
      $0.member("method", compaction.method?.rawValue)
      $0.member("free_before", compaction.before.freeBytes)
      $0.member("free_after", compaction.after?.freeBytes)
      $0.member("footprint_before", compaction.before.totalBytes)
      $0.member("footprint_after", compaction.after?.totalBytes)
      $0.member("stopped_by", compaction.stopReason?.rawValue)
      guard let erasure = compaction.erasure else { return }
      $0.member("orphans", compaction.orphans)
      ErasureRenderer(receipt: erasure).write(to: &$0)
    }
  }

  /// Appends one or two lines for people.
  public static func appendText(_ compaction: Compaction, into buffer: inout TextBuffer) {
    appendSizes(compaction, into: &buffer)
    guard let erasure = compaction.erasure else { return }
    if compaction.orphans > 0 {
      buffer.append(erasure.isPlanned ? "Would remove " : "Removed ")
      let words = compaction.store.traits.orphanWords
      buffer.append(counted: Int64(compaction.orphans), words.one, words.many)
      buffer.append("\n")
    }
    ErasureRenderer(receipt: erasure).appendText(into: &buffer)
  }

  private static func appendSizes(_ compaction: Compaction, into buffer: inout TextBuffer) {
    let before = compaction.before
    // Where each entry is a file, the file system frees its blocks when it is removed.
    guard compaction.store.traits.hasDatabase else {
      buffer.append(
        "Nothing to reclaim: a \(compaction.store.traits.words ?? "cache") stores entries in files,"
          + " not in a database\n")
      return
    }
    guard let method = compaction.method else {
      buffer.append("Free space in the database: ")
      buffer.append(byteCount: before.freeBytes)
      buffer.append(" of ")
      buffer.append(byteCount: before.databaseBytes)
      if before.tailBytes > 0 {
        buffer.append("; beyond its end: ")
        buffer.append(byteCount: before.tailBytes)
      }
      // An app that has the cache open keeps its log, so those bytes cannot be given back now.
      if before.reclaimableLogBytes > 0, !compaction.store.inUse {
        buffer.append("; write-ahead log: ")
        buffer.append(byteCount: before.reclaimableLogBytes)
      }
      buffer.append("; nothing was changed\n")
      return
    }
    // Unknown only if the cache could not be read again; the error says why.
    guard let after = compaction.after else { return }
    buffer.append("Size on disk: ")
    buffer.append(byteCount: before.totalBytes)
    buffer.append(" before, ")
    buffer.append(byteCount: after.totalBytes)
    buffer.append(" after; free in the database: ")
    buffer.append(byteCount: before.freeBytes)
    buffer.append(" before, ")
    buffer.append(byteCount: after.freeBytes)
    buffer.append(" after\n")
    switch method {
    case .none: buffer.append("There was nothing to reclaim\n")
    // The method is named, so that a user who expected a rewrite sees that the app has the cache
    // open.
    case .slices:
      buffer.append(
        "Reclaimed in small steps (incremental_vacuum), so that other processes need not wait\n")
    case .rewrite: buffer.append("Rewrote the database (VACUUM): no other process had it open\n")
    }
  }
}
