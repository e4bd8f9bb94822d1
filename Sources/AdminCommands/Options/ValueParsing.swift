import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

/// Parses a number of bytes: `4096`, `4K`, `4KiB` (1,024) or `4kB` (1,000).
func parseSize(_ text: String) throws -> ByteCount {
  do { return try WrittenValue.size(text) } catch { throw ValidationError(error) }
}

/// A number of bytes as users write it.
struct WrittenSize {
  /// The number of bytes.
  let bytes: ByteCount
  /// A note for the user if the unit may mean a power of 1,000 or of 1,024.
  let note: String?

  /// Creates a size from a configuration, which `config check` explains.
  init(_ bytes: ByteCount) { (self.bytes, note) = (bytes, nil) }

  /// Parses a size, as ``parseSize(_:)`` does.
  init(parsing text: String) throws {
    bytes = try parseSize(text)
    let units = "kmgtKMGT".utf8
    let isAmbiguous = text.utf8.last.map { units.contains($0) } ?? false
    let isDecimal = text.utf8.dropLast().last.map { units.contains($0) } ?? false
    note =
      isAmbiguous || isDecimal
      ? "reading \(printable(text)) as \(QuantityWords.grouped(bytes.bytes)) bytes" : nil
  }
}

/// Parses a duration, in seconds: `90s`, `30min`, `12h`, `30d` or `2w`.
func parseDuration(_ text: String) throws -> Double {
  do { return try WrittenValue.duration(text) } catch { throw ValidationError(error) }
}

/// Parses a time: RFC 3339, or a date, which means its midnight in the local time zone.
func parseTime(_ text: String) throws -> WrittenTime {
  do { return try WrittenTime(text) } catch { throw ValidationError(error) }
}

/// Parses statuses and classes: `200,4xx`.
func parseStatuses(_ text: String) throws -> [ClosedRange<Int64>] {
  do { return try WrittenValue.statuses(text) } catch { throw ValidationError(error) }
}

/// Parses a percentage: `90%` or `90`.
func parsePercent(_ text: String) throws -> Double {
  do { return try WrittenValue.percent(text) } catch { throw ValidationError(error) }
}

extension ValidationError {
  /// Creates an error from an invalid value.
  init(_ error: WrittenValueError) {
    self.init(printable(error.description))
  }
}

/// Parses an id: a number, or a file name.
func parseID(_ text: String) throws -> StoredResponse.ID {
  guard let id = StoredResponse.ID(text) else {
    throw ValidationError(
      "'\(printable(text))' is not an id. 'urlcache-admin list' shows the ids.")
  }
  return id
}

/// Parses a required property: `KEY` or `KEY=VALUE`.
func parseProperty(_ text: String) throws -> PropertyCriterion {
  do { return try PropertyCriterion(written: text) } catch { throw ValidationError(error) }
}

/// Parses a required header field: `NAME` or `NAME=PATTERN`.
func parseHeader(_ text: String) throws -> HeaderCriterion {
  do { return try HeaderCriterion(written: text) } catch { throw ValidationError(error) }
}

/// Returns text with control and invisible characters made safe to print.
func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      // Arguments may have been copied from a cache or come from a script, and an error message
      // shows them again.
      || scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl
    {
      let digits = String(scalar.value, radix: 16, uppercase: true)
      let padding = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
      result.append(contentsOf: "‹U+\(padding)\(digits)›".unicodeScalars)
    } else {
      result.append(scalar)
    }
  }
  return String(result)
}

extension ConditionError {
  /// Returns the error in an expression, with a mark below its position.
  ///
  /// - Parameter subject: The expression and its origin, in words.
  func message(about subject: String, _ text: String) -> String {
    "cannot parse \(subject): \(printable(reason))\n"
      + MarkedText.text(text, marking: range)
  }
}
