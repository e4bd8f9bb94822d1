import Administration
import Rendering

extension RemovalReceipt {
  /// Writes the receipt to standard output, and adds it to the record of the run.
  func write(
    by renderer: RemovalRenderer, as format: ChangeFormat, in environment: CommandEnvironment
  ) throws {
    // Metrics count what was removed, and a dry run removes nothing.
    if !renderer.isDryRun {
      environment.record.add(plan)
      environment.record.left = remainder?.count ?? 0
    }
    var output = OutputBuffer(environment)
    try renderer.append(self, as: format, into: &output.text, environment.flushIfLarge)
    try output.flush()
  }

  /// Reports what was removed before a failure ended the removal.
  func reportBeforeFailure(in environment: CommandEnvironment) {
    environment.record.add(plan)
    noteBeforeFailure(in: environment)
  }

  /// Says what was removed before a failure ended the command.
  func noteBeforeFailure(in environment: CommandEnvironment) {
    if !plan.entries.isEmpty {
      let entries = QuantityWords.counted(plan.entries.count, "entry", "entries")
      environment.note("removed \(entries) before the error")
    }
    reportFiles(in: environment)
  }

  /// Reports what the written receipt does not contain: what was left.
  func reportRemainder(in environment: CommandEnvironment) {
    reportFiles(in: environment)
    if let remainder {
      environment.note("stopped by \(remainder.reason.words); not removed: \(remainder.words)")
    }
  }

  private func reportFiles(in environment: CommandEnvironment) {
    environment.note(orphanedFiles: orphanedFiles)
    if keptFiles > 0 {
      environment.note(
        "kept body files that another database in the folder refers to, or may refer to: \(keptFiles)"
      )
    }
    if skippedOrphans > 0 {
      environment.note("skipped orphans that changed or were removed meanwhile: \(skippedOrphans)")
    }
  }
}

extension RemovalRenderer {
  /// Appends a receipt in a format.
  ///
  /// - Parameter flush: Is called after each entry of a document.
  func append(
    _ receipt: RemovalReceipt, as format: ChangeFormat, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    switch format {
    case .table: appendText(receipt, into: &buffer)
    case .json: try appendJSON(receipt, into: &buffer, flush)
    }
  }
}

extension StopReason {
  /// The reason in words.
  var words: String {
    switch self {
    case .signal: "a signal"
    case .maxRuntime: "'--max-runtime'"
    }
  }
}

extension CommandEnvironment {
  /// Reports body files that lost their entry but could not be removed.
  func note(orphanedFiles count: Int) {
    if count > 0 { note("could not remove body files: \(count)") }
  }
}
