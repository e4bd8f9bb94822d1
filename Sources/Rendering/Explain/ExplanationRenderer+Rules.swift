import Administration
import Bytes
import JSON

extension ExplanationRenderer {
  /// Appends the settings that apply to an entry, for people.
  func append(_ configured: Explanation.Configured, into buffer: inout TextBuffer) {
    buffer.append(title: "Class")
    buffer.append(shown: ByteString(configured.entryClass))
    buffer.append("\n")
    guard let revalidation = configured.revalidation else { return }
    buffer.append(title: "Revalidation due")
    buffer.append("after \(AgeText.words(seconds: Int64(revalidation.after)))")
    buffer.append(" by rule \(revalidation.rule): ")
    if let isDue = revalidation.isDue, let age = revalidation.age {
      let left = Int64(abs(age - revalidation.after))
      buffer.append("\(isDue ? "due for" : "due in") \(AgeText.words(seconds: left))")
    } else {
      buffer.append("its age is unknown")
    }
    buffer.append("\n")
  }

  /// Writes the member `configured` of an explanation.
  func write(_ configured: Explanation.Configured, to json: inout JSONWriter) {
    json.object("configured") { json in
      json.member("class", configured.entryClass)
      json.member("revalidate_after", configured.revalidation.map { Int64($0.after) })
      // `null` if no rule says it, or if the age of the entry is not known.
      json.member("revalidation_due", configured.revalidation?.isDue)
    }
  }
}
