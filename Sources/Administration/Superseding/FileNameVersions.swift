import Bytes

/// The versions in a file name: `app-8f3a2c1d.js`, `jquery-3.6.1.min.js`, `logo_20230101.png`, `logo-v2.png`.
struct FileNameVersions {
  private typealias Mark = ResourceVersion.Mark

  private let type: AssetType
  private let stem: ArraySlice<UInt8>
  private let words: [ArraySlice<UInt8>]
  private let folders: ArraySlice<UInt8>

  /// Returns the version marks in a file name.
  ///
  /// - Parameter folders: The path of the folder.
  static func marks(
    in name: ArraySlice<UInt8>, of type: AssetType, below folders: ArraySlice<UInt8>
  ) -> [ResourceVersion.Mark] {
    // File systems limit names to 255 bytes, so no build tool creates longer ones.
    guard name.count <= 255 else { return [] }
    let stem = VersionText(AssetType.stem(ofFileNamed: name))
    // Every version mark contains a digit or a capital letter.
    guard stem.digits > 0 || stem.capitals > 0 else { return [] }
    return Self(name, type, folders).marks
  }

  private init(_ name: ArraySlice<UInt8>, _ type: AssetType, _ folders: ArraySlice<UInt8>) {
    self.type = type
    stem = AssetType.stem(ofFileNamed: name)
    words = stem.split { !VersionText.isLetterOrDigit($0) && "-_.~@ ".utf8.contains($0) }
    self.folders = folders
  }

  /// Whether the file is in a folder for uploads, or in a folder of a date.
  private var isAmongContents: Bool {
    folders.split(separator: UInt8(ascii: "/")).contains {
      VersionVocabulary.isFolderOfContents($0)
    }
  }

  private var marks: [ResourceVersion.Mark] {
    guard !hasUUID else { return [] }
    var marks = SemanticVersion.ranges(in: stem).filter { isNamed(before: $0.lowerBound) }
      .map { Mark(range: $0, kind: .number) }
    let others =
      if let hash { [Mark(range: hash, kind: .hash)] } else if let time {
        [Mark(range: time, kind: .date)]
      } else {
        numberedVersions.map { Mark(range: $0, kind: .number) }
      }
    marks += others.filter { other in !marks.contains { $0.range.overlaps(other.range) } }
    return marks
  }

  // MARK: Hashes

  /// The last hash in the name, if a name remains without it.
  private var hash: Range<Int>? {
    // In a folder of uploads, another hash is another file.
    if type != .code, type != .font, isAmongContents { return nil }
    let found =
      words.last(where: { isHash($0) })?.indices ?? tail(of: 8).map { $0 }
      ?? entityTag
    return found.flatMap { isNamed(before: $0.lowerBound) ? $0 : nil }
  }

  /// Whether a word is a hash of a length that tools use; 24 digits are a database id, not a hash.
  private func isHash(_ word: ArraySlice<UInt8>) -> Bool {
    let text = VersionText(word)
    if type == .media, word.count == 11, word.first == UInt8(ascii: "s") {
      // Sprites of Compass have an `s` before the hash.
      return word.startIndex > stem.startIndex && VersionText(word.dropFirst()).isHexadecimal
        && stem[word.startIndex - 1] == UInt8(ascii: "-")
    }
    guard text.isHexadecimal else { return false }
    switch word.count {
    // Lengths that tools are known to write: for example 8 or 20 of webpack, 12 of Django, 32 for
    // MD5, 40 for SHA-1 and Git commits, and 64 for SHA-256 as in Rails.
    case 8, 10, 12, 16, 20, 32, 40, 64: return true
    // An abbreviated Git commit, SHA-224, SHA-384 and SHA-512.
    case 7, 56, 96, 128: return type == .code || type == .font
    case 6:
      return type == .code && word.startIndex > stem.startIndex
        && stem[word.startIndex - 1] == UInt8(ascii: ".")
    default: return false
    }
  }

  /// Returns the range of the last characters after `-` or `.`, if they look random (Vite, Rollup, esbuild).
  private func tail(of count: Int) -> Range<Int>? {
    let tail = stem.suffix(count)
    guard type != .data, stem.count > count + 1, tail.count == count,
      "-.".utf8.contains(stem[tail.startIndex - 1]),
      VersionText(tail).isBase64URL, VersionText(tail).looksRandom(allowsOneCase: type == .code)
    else { return nil }
    return tail.indices
  }

  /// The hash that Qiniu appends to a file name: 21 bytes, of which the first is 0x16 or 0x96.
  private var entityTag: Range<Int>? {
    let tail = stem.suffix(28)
    guard stem.count > 29, "-_.".utf8.contains(stem[tail.startIndex - 1]),
      // In Base64, the upper six bits of 0x16 are `F`, and those of 0x96 are `l`.
      tail.first == UInt8(ascii: "F") || tail.first == UInt8(ascii: "l")
    else { return nil }
    let text = VersionText(tail)
    guard text.isBase64URL, text.capitals > 2, text.smallLetters > 2, text.digits > 0 else {
      return nil
    }
    return tail.indices
  }

  // MARK: Times and numbers

  /// The last word, if it is a date (or, for code, a timestamp), and the file is not one that is new every day.
  private var time: Range<Int>? {
    guard let word = words.last(where: { !VersionVocabulary.isAddition($0) }) else { return nil }
    let text = VersionText(word)
    let isTime =
      switch type {
      // Ten digits are seconds since 1970. Thirteen are milliseconds, as in JavaScript.
      case .code: text.isDay || (text.isMoment && [10, 13].contains(word.count))
      // `IMG_20230101.jpg` is a photo of that day, and no version of another photo.
      case .media: text.isDay && word.count == 8 && !isAmongContents && !isContent
      // A day in JSON is the day of its content.
      case .font, .data: false
      }
    return isTime && isNamed(before: word.startIndex) ? word.indices : nil
  }

  /// Whether a word is a usual name for photos or daily content.
  private var isContent: Bool { words.contains { VersionVocabulary.isContent($0) } }

  /// The words that are numbers with a `v`, such as `v2`.
  private var numberedVersions: [Range<Int>] {
    guard type != .data else { return [] }
    return words.filter {
      VersionText($0).isNumberedVersion && isNamed(before: $0.startIndex, alsoContent: true)
    }.map(\.indices)
  }

  // MARK: Names

  /// Whether the words before a mark identify one resource.
  ///
  /// For code, any word but `chunk`, or the number of a chunk; for other types, a word other than generic ones such as
  /// `photo`.
  private func isNamed(before end: Int, alsoContent: Bool = false) -> Bool {
    let names = words.filter {
      $0.endIndex <= end && !VersionVocabulary.isAddition($0)
        && !($0.count >= 7 && VersionText($0).isHexadecimal)
    }
    switch type {
    case .code, .font: return !names.isEmpty
    case .media, .data:
      return names.contains { name in
        VersionText(name).letters > 0 && (alsoContent || !VersionVocabulary.isContent(name))
      }
    }
  }

  /// Whether the name contains a UUID: such a file is one of many, not a version.
  private var hasUUID: Bool {
    let lengths = [8, 4, 4, 4, 12]
    guard words.count >= lengths.count else { return false }
    return (0...(words.count - lengths.count)).contains { start in
      zip(words[start...], lengths).allSatisfy { word, length in
        word.count == length
          && word.allSatisfy {
            $0.isASCIIDigit
              || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0.asciiLowercased)
          }
      }
    }
  }
}
