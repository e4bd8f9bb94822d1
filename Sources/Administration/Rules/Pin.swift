public import Bytes

/// A URL in a configuration file whose entries are kept.
///
/// It matches each entry that ``EntryNames`` finds for it; in a Foundation store also the entry that the store returns
/// for it.
public struct Pin: Hashable, Sendable {
  /// The URL, as written.
  public let url: ByteString
  /// The place in the configuration file.
  public let place: ConfigurationPlace
}

extension ConfigurationFile {
  /// Reads an array of pinned URLs.
  mutating func pins(_ member: TOMLTable.Member) -> [Pin] {
    guard case .array(let values) = member.value.content else {
      append(
        "'pinned' must be an array", at: member.value.range,
        hint: "write 'pinned = [\"https://example.com/\"]'")
      return []
    }
    return values.compactMap { pin($0) }
  }

  private mutating func pin(_ value: TOMLValue) -> Pin? {
    guard case .text(let text) = value.content else {
      append("a pinned URL must be text", at: value.range)
      return nil
    }
    do throws(WrittenValueError) {
      return Pin(url: try WrittenValue.url(text), place: self.text.place(of: value.range))
    } catch {
      append("'\(error.text)' \(error.reason)", at: value.range, hint: error.hint)
      return nil
    }
  }
}

extension WrittenValue {
  /// Parses a whole URL.
  public static func url(_ text: String) throws(WrittenValueError) -> ByteString {
    guard case .url(let url)? = try? EntryNames.Name(written: text) else {
      throw WrittenValueError(
        text, "is not a URL", hint: "use a full URL such as 'https://example.com/data.json'")
    }
    return url
  }
}

extension Configuration {
  /// Returns the pins of a cache: the pins for all caches, and those for this cache, of all files.
  ///
  /// - Parameter names: The names of the cache.
  public func pins(forCacheNamed names: [String]) -> [Pin] {
    files.flatMap { file in
      // The command may have named the cache by its path or through a link. Pins must hold all the
      // same.
      names.flatMap { file.cache(named: $0)?.pins ?? [] } + file.pins
    }
  }
}
