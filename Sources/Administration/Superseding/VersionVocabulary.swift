import Bytes

/// The words in file and folder names that matter for versions.
enum VersionVocabulary {
  /// Words that are added to names, and identify nothing on their own.
  private static let additions = set(
    "min chunk chunks async module js css map gz br small medium large thumb thumbs thumbnail xs sm md lg xl xxl o n s m l orig"
      + " original full tiny big preview")

  /// Generic names of images and files, and names of content that is new every day.
  private static let contents = set(
    "photo photos image images img imgs picture pictures pic pics dsc dscn dcim pxl screenshot screen capture scan file files upload"
      + " uploads avatar avatars user users profile cover covers poster media video videos film clip audio voice recording song track"
      + " podcast episode attachment attachments document doc asset item items post posts article story stories comment message"
      + " product products gallery album slide page data record result response report reports chart charts graph radar weather"
      + " forecast daily weekly monthly today news newsletter comic strip cartoon puzzle crossword log logs backup export dump"
      + " snapshot statement invoice receipt calendar issue edition menu quote price prices rates rate score scores map tile figure"
      + " fig table swatch color colour sample test tmp temp download signal whatsapp wa fb insta vid mvimg burst"
  )

  /// Folders for uploads, or for many similar files.
  private static let contentFolders = set(
    "upload uploads uploaded avatar avatars user users profile profiles photo photos gallery galleries album albums attachment"
      + " attachments product products catalog covers posters thumbnails comments stories posts ugc usercontent"
  )

  private static func set(_ words: String) -> Set<ByteString> {
    Set(words.utf8.split(separator: UInt8(ascii: " ")).map { ByteString(Array($0)) })
  }

  private static func contains(_ set: Set<ByteString>, _ word: ArraySlice<UInt8>) -> Bool {
    word.count <= 12 && set.contains(ByteString(word.map(\.asciiLowercased)))
  }

  /// Whether a word, a size or a scale is only an addition to a name.
  static func isAddition(_ word: ArraySlice<UInt8>) -> Bool {
    VersionText(word).isSize || contains(additions, word)
  }

  /// Whether a word is a generic name of many resources.
  static func isContent(_ word: ArraySlice<UInt8>) -> Bool {
    contains(contents, word.prefix { !$0.isASCIIDigit })
  }

  /// Whether a folder is for uploads, or for a year or a date.
  static func isFolderOfContents(_ folder: ArraySlice<UInt8>) -> Bool {
    if contains(contentFolders, folder) { return true }
    let text = VersionText(folder)
    return text.isDay || (text.bytes.count == 4 && (1990...2049).contains(text.number ?? 0))
  }
}

/// The query parameters of temporarily signed URLs of content delivery networks and object stores, in lowercase.
enum SignatureVocabulary {
  // AWS, Google, Tencent, Alibaba, UpYun, Akamai and others each use a name of their own, which
  // needs no other parameter as evidence.
  /// The parameters that are a signature on their own.
  static let seals: Set<ByteString> = [
    "x-amz-signature", "x-goog-signature", "q-signature", "auth_key", "_upt", "hdnea", "hdnts",
    "hdntl", "__gda__",
    "__token__", "wssecret", "txsecret",
  ]

  /// The parameters that are a signature together with an expiry.
  static let signatures: Set<ByteString> = ["signature", "sig", "sign", "token", "oh", "hm"]

  /// The parameters for the expiry of a signature.
  static let expiries: Set<ByteString> = [
    "expires", "expire", "expiry", "exp", "e", "se", "deadline", "oe", "ex",
  ]

  /// Other parameters of a signature.
  private static let others: Set<ByteString> = [
    "x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-signedheaders",
    "x-amz-security-token", "x-amz-content-sha256", "awsaccesskeyid", "x-goog-algorithm",
    "x-goog-credential", "x-goog-date", "x-goog-expires", "x-goog-signedheaders", "googleaccessid",
    "ossaccesskeyid", "security-token", "key-pair-id", "policy", "keyname", "q-sign-algorithm",
    "q-ak",
    "q-sign-time", "q-key-time", "q-header-list", "q-url-param-list", "wstime", "txtime", "is",
  ]

  /// Parameters of an Azure shared access signature, which mean something else in other URLs.
  private static let azure: Set<ByteString> = [
    "sv", "sp", "sr", "st", "spr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]

  /// Whether a parameter of a signed URL is part of the signature.
  ///
  /// - Parameter names: The names of all parameters.
  static func isPart(_ name: ByteString, of names: Set<ByteString>) -> Bool {
    if seals.contains(name) || signatures.contains(name) || expiries.contains(name) { return true }
    if azure.contains(name) { return names.contains("sig") && names.contains("se") }
    // No known network signs with a token alone.
    return others.contains(name)
      && !names.isDisjoint(with: seals.union(signatures.subtracting(["token"])))
  }
}

/// Finds versions such as `3.2.1` and `2.0.0-rc.1` in text (Semantic Versioning 2.0.0).
enum SemanticVersion {
  // The words that pre-releases in package registries use. Any other word after a number is a part
  // of the name, as in `jquery-3.6.1.min.js`.
  private static let stages = [
    "alpha", "beta", "rc", "next", "canary", "dev", "pre", "preview", "snapshot",
  ].map { Array($0.utf8) }

  /// Returns the ranges of the versions in a text: three numbers, and the stage of a pre-release.
  ///
  /// A version follows `-`, `_`, `.`, `@` or the beginning, with or without `v`. Four numbers are an address, and three
  /// numbers that start with a year are a date, unless they follow `@`.
  static func ranges(in text: ArraySlice<UInt8>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var place = text.startIndex
    while place < text.endIndex {
      guard text[place].isASCIIDigit, let mark = before(place, in: text),
        let end = end(ofVersionAt: place, in: text),
        mark == UInt8(ascii: "@") || !isDay(text[place..<end])
      else {
        place += 1
        continue
      }
      ranges.append(place..<end)
      place = end
    }
    return ranges
  }

  /// Returns the delimiter before a number, 0 at the beginning; `nil` if there is none.
  private static func before(_ place: Int, in text: ArraySlice<UInt8>) -> UInt8? {
    guard place > text.startIndex else { return 0 }
    let byte = text[place - 1]
    if byte.asciiLowercased == UInt8(ascii: "v") {
      let isSecond =
        place - 1 > text.startIndex && text[place - 2].asciiLowercased == byte.asciiLowercased
      return isSecond ? nil : before(place - 1, in: text)
    }
    guard "-_.@".utf8.contains(byte) else { return nil }
    // The last three of four numbers are no version.
    guard byte == UInt8(ascii: ".") else { return byte }
    let word = text[..<(place - 1)].suffix(6).reversed().prefix(while: VersionText.isLetterOrDigit)
    return !word.isEmpty && word.allSatisfy(\.isASCIIDigit) ? nil : byte
  }

  private static func end(ofVersionAt start: Int, in text: ArraySlice<UInt8>) -> Int? {
    var place = start
    for part in 0..<3 {
      if part > 0 {
        guard place < text.endIndex, text[place] == UInt8(ascii: ".") else { return nil }
        place += 1
      }
      let number = text[place...].prefix(6).prefix(while: \.isASCIIDigit)
      guard (1...5).contains(number.count) else { return nil }
      place = number.endIndex
    }
    guard place < text.endIndex else { return place }
    guard "-_.+".utf8.contains(text[place]) else { return nil }
    if text[place] == UInt8(ascii: "."), place + 1 < text.endIndex,
      text[place + 1].isASCIIDigit
    {
      return nil
    }
    return endOfStage(at: place, in: text)
  }

  /// Returns the end of the pre-release stage that begins at `start`; `start` if there is none.
  private static func endOfStage(at start: Int, in text: ArraySlice<UInt8>) -> Int {
    let rest = text[(start + 1)...]
    let word = rest.prefix { VersionText.isLetterOrDigit($0) && !$0.isASCIIDigit }
    guard stages.contains(where: { $0.elementsEqual(word.map(\.asciiLowercased)) }) else {
      return start
    }
    let dot = text[word.endIndex...].prefix(1).prefix {
      $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
    }
    let number = text[dot.endIndex...].prefix(while: \.isASCIIDigit)
    return number.isEmpty ? word.endIndex : number.endIndex
  }

  private static func isDay(_ version: ArraySlice<UInt8>) -> Bool {
    let numbers = version.split(separator: UInt8(ascii: ".")).map { VersionText($0).number ?? 0 }
    return (1900...2100).contains(numbers[0])
  }
}
