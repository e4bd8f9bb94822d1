import Administration
import ArgumentParser
import Bytes
import ResponseStorage

/// A number of bytes on the command line: `4096`, `4K`, `4KiB` (1024) or `4kB` (1000).
func parseSize(_ text: String) throws -> ByteCount {
  do { return try WrittenValue.size(text) } catch { throw ValidationError(error) }
}

/// A length of time on the command line, in seconds: `90s`, `30min`, `12h`, `30d` or `2w`.
func parseDuration(_ text: String) throws -> Double {
  do { return try WrittenValue.duration(text) } catch { throw ValidationError(error) }
}

/// A moment on the command line: RFC 3339, or a day, which means its first second here.
func parseTime(_ text: String) throws -> WrittenTime {
  do { return try WrittenTime(text) } catch { throw ValidationError(error) }
}

/// Statuses on the command line: numbers and classes, `200,4xx`.
func parseStatuses(_ text: String) throws -> [ClosedRange<Int64>] {
  do { return try WrittenValue.statuses(text) } catch { throw ValidationError(error) }
}

/// A share on the command line, in percent: `90%` or `90`.
func parsePercent(_ text: String) throws -> Double {
  do { return try WrittenValue.percent(text) } catch { throw ValidationError(error) }
}

extension ValidationError {
  /// Says what is wrong with a value on the command line.
  init(_ error: WrittenValueError) {
    self.init(printable(error.description))
  }
}

/// An id on the command line: a number, or the name of a file.
func parseID(_ text: String) throws -> StoredResponse.ID {
  guard let id = StoredResponse.ID(text) else {
    throw ValidationError(
      "'\(printable(text))' is not an id. 'urlcache-admin list' shows those of a cache.")
  }
  return id
}

/// What a property has to be, on the command line: `KEY`, or `KEY=VALUE`.
func parseProperty(_ text: String) throws -> PropertyCriterion {
  do { return try PropertyCriterion(written: text) } catch { throw ValidationError(error) }
}

/// What a user typed, safe to print.
func printable(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
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
