import Administration
import Bytes

extension ExplanationRenderer {
  /// Appends what the configuration says of an entry, for people.
  func append(_ configured: Explanation.Configured, into buffer: inout TextBuffer) {
    buffer.append(title: "Class")
    buffer.append(shown: ByteString(configured.entryClass))
    buffer.append("\n")
    guard let revalidation = configured.revalidation else { return }
    buffer.append(title: "To be validated")
    buffer.append("after \(AgeText.text(seconds: Int64(revalidation.after)))")
    buffer.append(" by rule \(revalidation.rule): ")
    if let isDue = revalidation.isDue, let age = revalidation.age {
      let left = Int64(abs(age - revalidation.after))
      buffer.append("\(isDue ? "due for" : "due in") \(AgeText.text(seconds: left))")
    } else {
      buffer.append("its age is not known")
    }
    buffer.append("\n")
  }

  /// Appends the member `configured` of an explanation, if the configuration says anything.
  func append(jsonOf configured: Explanation.Configured?, into buffer: inout TextBuffer) {
    guard let configured else { return }
    buffer.append(",\"configured\":{\"class\":")
    buffer.append(json: configured.entryClass)
    buffer.append(",\"revalidate_after\":")
    buffer.append(json: configured.revalidation.map { Int64($0.after) })
    buffer.append(",\"revalidation_due\":")
    let isDue = configured.revalidation?.isDue
    buffer.append(isDue.map { $0 ? "true" : "false" } ?? "null")
    buffer.append("}")
  }
}
