import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The state of the cache, and suggestions.
  var verdict: HTML {
    var chips: HTML = ""
    for judgement in words.judgements {
      chips += "<li class=\"chip \(judgement.sign.rawValue)\">\(judgement.text)</li>"
    }
    let suggestions = suggestionList
    return """
      <section class="verdict" aria-label="Summary">
      <div class="say">\(gauge)<ul class="chips">\(chips)</ul>
      <p class="big"><span><b>\(words.used)</b> \(words.usedOf)</span> \(staleSentence)</p>
      \(hostSentence)\(openGauge)</div>
      <div class="do"><h2>Suggestions</h2>
      \(suggestions)</div>
      </section>
      """
  }

  private var staleSentence: HTML {
    report.usage.bodyBytes > 0 ? "<span><b>\(words.staleShare)</b> \(words.staleSuffix)</span>" : ""
  }

  private var hostSentence: HTML {
    let hosts = words.leadingHosts
    guard !hosts.isEmpty else { return "" }
    var names: HTML = ""
    for (index, host) in hosts.enumerated() {
      if index > 0 { names += index == hosts.count - 1 ? " and " : ", " }
      let stale = ReportWords.percent(host.staleBytes, of: host.sum.bytes)
      names += """
        <b><bdi>\(words.name(of: host))</bdi></b> (\(ByteSizeText.text(host.sum.bytes)), \(stale) stale)
        """
    }
    return "<p class=\"more\">\(words.leadingHostsPrefix)\(names).</p>\n"
  }

  /// The bodies and the rest of the size on disk as a part of the capacity; empty if that is not known.
  private var gauge: HTML {
    guard let capacity = report.usage.capacityBytes, capacity > 0 else { return "" }
    let used = report.usage.footprint.totalBytes
    let full = ReportWords.percent(used, of: capacity)
    // If the cache exceeds its capacity, the mark of the limit is inside the bar.
    let scale = 1000 / Double(max(capacity, used))
    // Bytes other than bodies get a part of their own.
    var (x, bars): (Double, HTML) = (0, "")
    func add(_ bytes: ByteCount, _ kind: String) {
      let width = Double(bytes) * scale
      guard width >= 0.5, x < 1000 else { return }
      bars += """
        <rect class="f-\(kind)" x="\(x)" width="\(min(width, 1000 - x))" height="34"/>
        """
      x += width
    }
    for state in CacheReport.State.allCases { add(report.states[state].bytes, state.rawValue) }
    add(max(0, used - report.usage.bodyBytes), "other")
    let end = Double(capacity) * scale
    return """
      <p class="gl"><b>\(full) full</b><span>\(ByteSizeText.text(capacity))</span></p>
      <svg class="gauge" viewBox="0 0 1000 34" preserveAspectRatio="none" role="img" \
      aria-label="\(full) of the capacity used"><rect class="gt" width="1000" height="34"/>\(bars)\
      <rect class="lim" x="\(end - 2)" width="2" height="34"/></svg>
      \(used > 0 ? legend(hasOtherData: used > report.usage.bodyBytes) : "")
      """
  }

  /// The gauge without a capacity: a full bar whose end is open, because nothing says how much more fits.
  private var openGauge: HTML {
    guard (report.usage.capacityBytes ?? 0) == 0, report.usage.entries > 0,
      report.store.traits.isCache
    else { return "" }
    let rest = max(0, report.usage.footprint.totalBytes - report.usage.bodyBytes)
    let parts = CacheReport.State.allCases.map { ("f-\($0.rawValue)", report.states[$0].bytes) }
    return """
      <p class="gl"><b>Capacity unknown</b><span>add <code class="in">--capacity 50MiB</code> to see how full \
      it is</span></p>
      \(stack(parts + [("f-other", rest)]))
      \(legend(hasOtherData: rest > 0))
      """
  }

  private var suggestionList: HTML {
    guard !words.suggestions.isEmpty else {
      return "<p class=\"mut\">\(words.noSuggestion)</p>"
    }
    var items: HTML = ""
    for suggestion in words.suggestions {
      items += """
        <li><span><b>\(suggestion.gain)</b>\(suggestion.how)</span>\
        \(code(suggestion.command))</li>

        """
    }
    return """
      <ol>
      \(items)</ol>
      <p class="mut">These commands only show what they would do. To apply one, run it with \
      <code class="in">--yes</code> instead of <code class="in">--dry-run</code>.</p>
      """
  }

  /// The key figures.
  var figures: HTML {
    let usage = report.usage
    let hosts = Int64(report.hosts.count) + (report.otherHosts?.groups ?? 0)
    // Beyond a memory limit, hosts are not told apart any more.
    let areMore = report.otherHosts.map { $0.groups == nil } ?? false
    let beside = max(0, usage.footprint.totalBytes - usage.bodyBytes)
    let oldest = usage.storedTimes.map { AgeText.words(from: $0.lowerBound, to: report.now) }
    let newest = usage.storedTimes.map { AgeText.words(from: $0.upperBound, to: report.now) }
    return """
      <section class="tiles" aria-label="Key figures">
      \(figure("Entries", ReportWords.grouped(usage.entries), 
        (areMore ? "more than " : "") + QuantityWords.counted(hosts, "host", "hosts")))
      \(figure("Bodies", ByteSizeText.text(usage.bodyBytes), "\(ByteSizeText.text(beside)) of other data"))
      \(figure("Median body", usage.median.map { ByteSizeText.text($0.bytes) } ?? "–", words.halfSentence))
      \(figure("Oldest entry", oldest ?? "–", newest.map { "newest \($0)" } ?? "no known time"))
      <div\(words.hasErrors ? " class=\"bad\"" : "" as HTML)><p>Integrity</p>\
      <b>\(words.findingCounts[0])</b>\
      <span>\(words.findingCounts.dropFirst().joined(separator: ", ")): \
      <a href="#integrity">see below</a></span></div>
      </section>
      """
  }

  private func figure(_ title: String, _ value: String, _ rest: String) -> HTML {
    "<div><p>\(title)</p><b>\(value)</b><span>\(rest)</span></div>"
  }
}
