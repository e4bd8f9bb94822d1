import Administration
import Bytes
import ResponseStorage

/// A finding about the integrity of a cache, in words.
struct FindingText: Hashable, Sendable {
  /// Whether everything is in order.
  let isGood: Bool
  /// The subject.
  let title: String
  /// The description.
  let text: String
  /// The command that shows the repair, if it can be repaired.
  let command: ByteString?
}

extension ReportWords {
  /// The findings, and what is in order.
  var findings: [FindingText] {
    var all = report.findings.map { text(of: $0) }
    // What was checked and is in order is said too. Silence could as well mean that nobody looked.
    if report.usage.footprint.orphanFiles == 0 {
      all.append(good("Files:", "Every body file has an entry."))
    }
    if report.findings.isEmpty {
      let entries = QuantityWords.counted(report.usage.entries, "entry was", "entries were")
      all.append(good("Entries:", "\(entries) decoded without problems."))
    }
    let log = report.usage.footprint.reclaimableLogBytes
    // A small log is normal in WAL mode. One of more than a twentieth explains why a footprint is
    // larger than its parts suggest.
    if report.store.inUse, log > report.usage.footprint.totalBytes / 20 {
      all.append(
        good(
          "Write-ahead log:",
          "the app that has the cache open will free \(ByteSizeText.text(log)) when it quits."))
    }
    return all
  }

  private func good(_ title: String, _ text: String) -> FindingText {
    FindingText(isGood: true, title: title, text: text, command: nil)
  }

  private func text(of finding: CacheReport.FindingCount) -> FindingText {
    // A report may be of an archive or of a cache that this user cannot write to.
    let repair = report.canBeChanged ? finding.code.repair : nil
    let size =
      finding.code.repair == .orphans && report.orphans.bytes > 0
      ? " (\(ByteSizeText.text(report.orphans.bytes)))" : ""
    return FindingText(
      isGood: finding.code.severity == .note,
      title: "\(Self.grouped(finding.count)) × \(finding.code.name)\(size):",
      text: "\(finding.code.meaning).",
      // Always with `--dry-run`: nothing that is copied out of a page changes a cache before the
      // user has seen what it would do.
      command: repair.map { command("check", "--repair=\($0.rawValue) --dry-run") })
  }

  /// The number of findings of each severity, as `check` counts and names them.
  var findingCounts: [String] {
    Finding.Severity.allCases.map { severity in
      severity.counted(report.findingCounts[severity, default: 0])
    }
  }

  /// Whether there are no errors and no warnings.
  var isClean: Bool { findings.allSatisfy(\.isGood) }

  /// Whether there are errors, not only warnings and notes.
  var hasErrors: Bool { report.findingCounts[.error, default: 0] > 0 }

  /// The command that finds the rest.
  var checkCommand: ByteString { command("check", "--full") }
}
