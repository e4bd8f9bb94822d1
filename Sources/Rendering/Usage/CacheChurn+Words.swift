public import Administration
import Bytes
public import JSON

extension CacheChurn {
  /// What was stored and kept, in one line for people.
  var words: String {
    let kept = kept == 0 ? "none" : QuantityWords.grouped(kept)
    let counts = "\(QuantityWords.grouped(stored)) stored, \(kept) kept"
    guard let rate else { return "\(counts); rate unknown" }
    var text = "\(counts); \(rate.entriesWords) a day (\(ByteSizeText.text(rate.bytesPerDay)))"
    if let seconds = rate.lifetimeSeconds {
      text += ", an entry lasts about \(AgeText.words(seconds: seconds))"
    }
    return text
  }
}

extension CacheChurn.Rate {
  /// The number of entries a day, rounded as an estimate should be.
  var entriesWords: String {
    guard entriesPerDay < 10 else {
      // Larger numbers would trap in the conversion.
      return "about \(QuantityWords.grouped(Int64(min(entriesPerDay.rounded(), 9e18))))"
    }
    let tenths = Int64((entriesPerDay * 10).rounded())
    guard tenths > 0 else { return "less than 0.1" }
    return "about \(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
  }
}

extension CacheChurn: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("stored", stored)
      $0.member("kept", kept)
      $0.member("removed", removed)
      $0.member("estimate", rate)
    }
  }
}

extension CacheChurn.Rate: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("from", times.lowerBound)
      $0.member("to", times.upperBound)
      // Three decimals: more would look exact.
      $0.member("entries_per_day", (min(entriesPerDay, 1e12) * 1_000).rounded() / 1_000)
      $0.member("body_bytes_per_day", bytesPerDay)
      $0.member("lifetime_seconds", lifetimeSeconds)
    }
  }
}
