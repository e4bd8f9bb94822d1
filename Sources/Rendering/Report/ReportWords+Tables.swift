import Administration
import Bytes
import ResponseStorage

extension ReportWords {
  /// The hosts with the most bytes, and all other hosts in one row.
  var hostTable: ReportTable {
    var rows = report.hosts.map { host in
      let stale = Self.percent(host.staleBytes, of: host.sum.bytes)
      return ReportTable.Row(
        name: name(of: host), isFromCache: true, values: counts(of: host.sum) + [stale])
    }
    if let others = report.otherHosts {
      let count = others.groups.map { QuantityWords.counted($0, "other host", "other hosts") }
      let sum = CacheReport.Sum(entries: others.entries, bytes: others.bytes)
      rows.append(
        ReportTable.Row(
          name: ByteString(count ?? "all other hosts"), values: counts(of: sum) + ["–"]))
    }
    return ReportTable(columns: ["Host", "Entries", "Bodies", "Share", "Stale"], rows: rows)
  }

  /// The bodies by age and freshness.
  var ageTable: ReportTable {
    let groups = report.ages.filter { $0.sums.total.entries > 0 }
    let states = CacheReport.State.allCases
    return ReportTable(
      columns: [report.agesAreDates ? "Stored" : "Age", "Entries", "Bodies"] + states.map(\.title),
      rows: groups.map { group in
        let sums = [group.sums.total] + states.map { group.sums[$0] }
        return ReportTable.Row(
          name: group.name ?? "unknown",
          values: [Self.grouped(group.sums.total.entries)]
            + sums.map { ByteSizeText.text($0.bytes) })
      })
  }

  /// The bytes that some age limits would free.
  var limitTable: ReportTable {
    let days: Set<Int64> = [1, 7, 14, 30, 60, 90, 180, 365, 730]
    let limits = report.ageLimits.filter { limit in
      limit.seconds % 86_400 == 0 && days.contains(limit.seconds / 86_400)
    }
    return ReportTable(
      columns: ["Older than", "Entries", "Frees", "Share", "Still fresh"],
      rows: limits.map { limit in
        ReportTable.Row(
          name: ByteString(Self.duration(limit.seconds)),
          values: counts(of: limit.removed) + [Self.grouped(limit.fresh.entries)])
      })
  }

  /// The bodies by freshness.
  var stateTable: ReportTable {
    ReportTable(
      columns: ["Freshness", "Entries", "Bodies", "Share"],
      rows: CacheReport.State.allCases.map { state in
        ReportTable.Row(
          name: ByteString(state.title), meaning: state.meaning,
          values: counts(of: report.states[state]))
      })
  }

  /// The savings from lifetimes and validators.
  var savingsTable: ReportTable {
    ReportTable(
      columns: ["If requested again", "Entries", "Bodies", "Share"],
      rows: CacheSavings.Outcome.allCases.map { outcome in
        ReportTable.Row(
          name: ByteString(outcome.title), meaning: outcome.meaning,
          values: counts(of: report.usage.savings?.total[outcome] ?? CacheReport.Sum()))
      })
  }

  /// The entries that newer versions supersede.
  var versionTable: ReportTable {
    ReportTable(
      columns: ["Versions", "Entries", "Bodies", "Share"],
      rows: [
        ReportTable.Row(
          name: "Superseded",
          meaning: "a newer version of the same file exists, judging by the URLs",
          values: counts(of: report.usage.superseded ?? CacheReport.Sum()))
      ])
  }

  /// How many entries were stored, and how quickly they are replaced; `nil` if none was removed, or if that is unknown.
  var churnTable: ReportTable? {
    guard let churn = report.usage.churn, churn.removed > 0 else { return nil }
    func row(_ name: ByteString, meaning: String? = nil, _ value: String) -> ReportTable.Row {
      ReportTable.Row(name: name, meaning: meaning, values: [value])
    }
    let rate = churn.rate
    return ReportTable(
      columns: ["Stored and removed", "Number"],
      rows: [
        row("Stored", meaning: "according to the counter of the cache", Self.grouped(churn.stored)),
        row("Removed", Self.grouped(churn.removed)), row("Kept", Self.grouped(churn.kept)),
        row(
          "Stored per day", meaning: "estimated from the kept entries",
          rate?.entriesWords ?? "unknown"),
        row(
          "Bytes per day", meaning: "if removed bodies were as large as kept ones",
          rate.map { "about \(ByteSizeText.text($0.bytesPerDay))" } ?? "unknown"),
        row(
          "Lifetime of an entry", meaning: "how long it is kept on average",
          rate?.lifetimeSeconds.map { "about \(AgeText.words(seconds: $0))" } ?? "unknown"),
      ])
  }

  /// The parts of the size on disk.
  var partTable: ReportTable {
    ReportTable(
      columns: ["On disk", "Bytes"],
      rows: parts.map { part in
        ReportTable.Row(name: ByteString(part.name), values: [ByteSizeText.text(part.bytes)])
      })
  }

  /// Returns the number of entries, the size of their bodies, and its share of all bodies.
  private func counts(of sum: CacheReport.Sum) -> [String] {
    [
      Self.grouped(sum.entries), ByteSizeText.text(sum.bytes),
      Self.percent(sum.bytes, of: report.usage.bodyBytes),
    ]
  }
}

extension ReportWords {
  /// The parts of the size on disk, each with the class of its color, which does not depend on the other parts.
  var parts: [(name: String, bytes: ByteCount, color: String)] {
    let footprint = report.usage.footprint
    // An archive is one file, of which only its size is known.
    guard report.store.traits.isCache else {
      return [("the archive", footprint.totalBytes, "d1")]
    }
    guard report.store.traits.hasDatabase else {
      return [
        ("entry files", footprint.bodyFilesBytes, "d1"),
        ("other files", footprint.orphanBytes, "d4"),
      ]
    }
    let database = footprint.databaseBytes
    // Sizes that a damaged database claims need not add up.
    let beside = max(0, max(0, database - report.inlineBytes) - footprint.freeBytes)
    return [
      ("body files", max(0, footprint.bodyFilesBytes - footprint.orphanBytes), "d1"),
      ("bodies in the database", min(report.inlineBytes, database), "d2"),
      ("other data in the database", beside, "d3"), ("orphans", footprint.orphanBytes, "d4"),
      ("free pages", footprint.freeBytes, "d5"),
      ("write-ahead log", footprint.walBytes, "d6"),
      ("index of the write-ahead log", footprint.shmBytes, "d7"),
    ].filter { $0.1 > 0 }
  }
}
