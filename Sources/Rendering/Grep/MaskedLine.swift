import Administration
import Bytes
import Matching
import ResponseStorage
import Secrets

/// A found line with its secrets replaced by ``Mask/replacement``.
struct MaskedLine {
  /// The text.
  private(set) var text: [UInt8]
  /// The matches, as ranges of ``text``; a match in a secret is the replacement.
  private(set) var matches: [Range<Int>]

  /// Masks a line for `reader`.
  init(_ hit: EntrySearch.Hit, _ secrets: SecretPolicy, for reader: SecretPolicy.Reader) {
    (text, matches) = (hit.line.bytes, hit.line.matches)
    mask(Self.ranges(in: hit, secrets, for: reader))
  }

  /// Returns the ranges of secrets.
  private static func ranges(
    in hit: EntrySearch.Hit, _ secrets: SecretPolicy, for reader: SecretPolicy.Reader
  ) -> [Range<Int>] {
    let text = hit.line.bytes
    if hit.place == .url {
      guard secrets.masksURLs(for: reader) else { return [] }
      var ranges: [Range<Int>] = []
      _ = URLSecrets().replacing(in: ByteString(text)) { secret in
        switch secret {
        case .userInformation(let part), .value(let part): ranges.append(part.indices)
        }
        return nil
      }
      return SecretRanges.merged(ranges)
    }
    if secrets.showSecrets { return [] }
    switch hit.place {
    // All of it, as in all other output.
    case .requestBody: return [0..<text.count]
    case .request, .response:
      return SecretRanges.of(text, inField: hit.fieldName ?? "", at: hit.line.offset)
    case .body, .url:
      return SecretRanges.of(text, hasStart: hit.line.hasStart, hasEnd: hit.line.hasEnd)
    }
  }

  private mutating func mask(_ ranges: [Range<Int>]) {
    guard !ranges.isEmpty else { return }
    var result: [UInt8] = []
    // Where each byte of the old text begins in the new one; the bytes of a secret begin with its replacement.
    var changes: [(old: Range<Int>, new: Range<Int>)] = []
    var place = 0
    for range in ranges {
      result += text[place..<range.lowerBound]
      let start = result.count
      result += Mask.replacement.bytes
      changes.append((range, start..<result.count))
      place = range.upperBound
    }
    result += text[place...]
    func moved(_ index: Int, isEnd: Bool) -> Int {
      var shift = 0
      for (old, new) in changes {
        if index < old.lowerBound || index == old.lowerBound && isEnd { break }
        if index < old.upperBound || index == old.upperBound && isEnd {
          return isEnd ? new.upperBound : new.lowerBound
        }
        shift = new.upperBound - old.upperBound
      }
      return index + shift
    }
    matches = matches.map { match in
      let start = moved(match.lowerBound, isEnd: false)
      return start..<max(start, moved(match.upperBound, isEnd: true))
    }
    text = result
  }
}

extension SecretRanges {
  /// Returns the ranges of secrets in `name: value`, or in a part of it.
  ///
  /// - Parameter offset: The offset of the text in the whole line.
  static func of(_ text: [UInt8], inField name: ByteString, at offset: Int64) -> [Range<Int>] {
    let start = min(max(0, name.bytes.count + 2 - Int(clamping: offset)), text.count)
    let value = Array(text[start...])
    // As `show` prints the field: some values are secret as a whole.
    if Mask.headerValue(ByteString(value), named: name) == Mask.replacement {
      return [start..<text.count]
    }
    return of(value).map { $0.lowerBound + start..<$0.upperBound + start }
  }
}
