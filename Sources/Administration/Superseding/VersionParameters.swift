import Bytes

/// The versions and signatures in a query: `?v=3`, `?e=1451491200&token=…`.
struct VersionParameters {
  /// The values that differ between versions.
  private(set) var marks: [ResourceVersion.Mark] = []
  /// The parameters of a signature, with the `&` after or before them.
  private(set) var signatures: [Range<Int>] = []

  private struct Parameter {
    let text: ArraySlice<UInt8>
    /// The name, in lowercase.
    let name: ByteString
    /// The part after the first `=`; `nil` if there is none.
    let value: ArraySlice<UInt8>?
  }

  /// Finds the versions and signatures in a query.
  ///
  /// - Parameter type: The type of the file; `nil` if it may not be static. Then only signatures are found.
  init(in query: ArraySlice<UInt8>, of type: AssetType?) {
    let parameters = query.split(separator: UInt8(ascii: "&")).map { text in
      let name = text.prefix { $0 != UInt8(ascii: "=") }
      return Parameter(
        text: text, name: ByteString(name.map(\.asciiLowercased)),
        value: name.endIndex < text.endIndex ? text[(name.endIndex + 1)...] : nil)
    }
    let names = Set(parameters.map(\.name))
    let isSigned = Self.isSignature(names, isStatic: type != nil)
    for parameter in parameters {
      if isSigned, SignatureVocabulary.isPart(parameter.name, of: names) {
        signatures.append(parameter.text.indices)
      } else if let type,
        let value = Self.version(in: parameter, alone: parameters.count == 1, type)
      {
        marks.append(ResourceVersion.Mark(range: value.indices, kind: .parameter))
      }
    }
    signatures = Self.joined(signatures, in: query)
  }

  /// Merges adjacent ranges of parameters, and adds the `&` that becomes superfluous without them.
  private static func joined(
    _ ranges: [Range<Int>], in query: ArraySlice<UInt8>
  ) -> [Range<Int>] {
    let runs = ranges.reduce(into: [] as [Range<Int>]) { runs, range in
      if let last = runs.last, last.upperBound + 1 == range.lowerBound {
        runs[runs.count - 1] = last.lowerBound..<range.upperBound
      } else {
        runs.append(range)
      }
    }
    return runs.map { run in
      if run.upperBound < query.endIndex { return run.lowerBound..<(run.upperBound + 1) }
      return max(query.startIndex, run.lowerBound - 1)..<run.upperBound
    }
  }

  /// Whether parameters are a temporary signature, or a token of a static file.
  private static func isSignature(_ names: Set<ByteString>, isStatic: Bool) -> Bool {
    if !names.isDisjoint(with: SignatureVocabulary.seals) { return true }
    if isStatic, names.contains("token") { return true }
    return !names.isDisjoint(with: SignatureVocabulary.signatures)
      && !names.isDisjoint(with: SignatureVocabulary.expiries)
  }

  // MARK: Versions

  private static let versions: Set<ByteString> = [
    "v", "ver", "version", "_v", "__v", "vsn", "rev", "revision", "build", "hash", "md5", "sha",
    "sha1", "sha256",
    "digest", "checksum", "etag", "versionid", "mtime", "modified", "lastmod", "updated",
    "updated_at",
    "cachebuster", "cachebust", "bust", "nocache", "cb",
  ]

  /// Ambiguous names: only long numbers and hashes count.
  private static let times: Set<ByteString> = [
    "t", "ts", "_t", "_", "timestamp", "time", "r", "rnd", "rand", "random", "_dc", "dc",
  ]

  /// Returns the text in a parameter that differs between versions.
  ///
  /// - Parameter alone: Whether the parameter is the whole query.
  private static func version(
    in parameter: Parameter, alone: Bool, _ type: AssetType
  ) -> ArraySlice<UInt8>? {
    guard let value = parameter.value else {
      return alone && isVersion(parameter.name, of: type) ? parameter.text : nil
    }
    let text = VersionText(value)
    let isVersion =
      if versions.contains(parameter.name) {
        isVersion(text)
      } else if times.contains(
        parameter.name)
      {
        isTime(text)
      } else {
        // `id` usually names another resource. Only a long hash of a script or a style sheet is
        // more likely a version.
        parameter.name == "id" && type == .code && value.count >= 16 && text.isHexadecimal
      }
    return isVersion ? value : nil
  }

  /// Whether a query without `=` is a version: `style.css?1672531200`.
  private static func isVersion(_ query: ByteString, of type: AssetType) -> Bool {
    let text = VersionText(query.bytes[...])
    if type == .code || type == .font { return isVersion(text) }
    return text.bytes.count >= 8 && (text.isNumber || text.isHexadecimal)
  }

  /// Whether a value is a number, a version or a hash, but not a word.
  private static func isVersion(_ text: VersionText) -> Bool {
    text.digits > 0 && text.bytes.count <= 128
      && text.bytes.allSatisfy { VersionText.isLetterOrDigit($0) || "._-+%:".utf8.contains($0) }
  }

  /// Whether a value is a timestamp, a random number or a hash.
  private static func isTime(_ text: VersionText) -> Bool {
    let isDecimal = text.bytes.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    return isDecimal ? text.digits >= 6 : text.bytes.count >= 8 && text.isHexadecimal
  }
}
