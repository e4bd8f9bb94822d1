public import Bytes
public import Files
import ResponseArchives
public import ResponseStorage
public import SQLite

/// Finds entries whose URLs are equal once a part is left out of them. Memory does not grow with their number.
public struct EqualURLs {
  /// Entries whose URLs are equal without the part that was left out.
  public struct Group {
    /// The first entry whose URL has that part.
    public let id: StoredResponse.ID
    /// The URL of that entry.
    public let url: ByteString
    /// The number of entries whose URLs have the part.
    public fileprivate(set) var entries: Int64 = 1
    /// The bytes of these entries.
    public fileprivate(set) var bytes: ByteCount
    /// The bytes of the largest of them.
    public fileprivate(set) var largest: ByteCount
    /// Whether an entry has the same URL without the part.
    public fileprivate(set) var hasShortURL = false

    fileprivate init(_ entry: ShortenedURL) {
      (id, url, bytes, largest) = (entry.id, entry.url, entry.size, entry.size)
    }

    fileprivate func adding(_ entry: ShortenedURL) -> Self {
      var group = self
      group.entries += 1
      group.bytes += entry.size
      group.largest = max(largest, entry.size)
      return group
    }
  }

  private var urls = Scratch.Sort<URLToCompare>(keys: 2)
  private var groups = Scratch.Sort<Group>()
  private var hasShortened = false

  /// Creates an empty collection.
  public init() {}

  /// Adds an entry of whose URL nothing is left out.
  public mutating func insert(_ url: ByteString) throws(FileError) {
    try insert(URLToCompare(digest: TextDigest(url), entry: nil))
  }

  private mutating func insert(_ url: URLToCompare) throws(FileError) {
    try urls.insert(url, by: url.digest.scratchKeys)
  }

  /// Adds an entry.
  ///
  /// - Parameters:
  ///   - shortened: Its URL without the part that is left out.
  ///   - url: Its URL.
  ///   - id: Its id.
  ///   - size: Its bytes.
  public mutating func insert(
    _ shortened: ByteString, of url: ByteString, _ id: StoredResponse.ID, size: ByteCount
  ) throws(FileError) {
    hasShortened = true
    try insert(
      URLToCompare(
        digest: TextDigest(shortened), entry: ShortenedURL(id: id, url: url, size: size)))
  }

  /// Removes all entries, and calls `body` with each group of several, in the order of their ids.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries.
  public mutating func removeAll(_ body: (Group) throws -> Void) throws {
    guard hasShortened else { return }
    var rest = try urls.removeAll()
    var next = try rest.next()
    while let first = next {
      var group = first.entry.map { Group($0) }
      var hasShortURL = first.entry == nil
      next = try rest.next()
      while let url = next, url.digest == first.digest {
        if let entry = url.entry {
          group = group?.adding(entry) ?? Group(entry)
        } else {
          hasShortURL = true
        }
        next = try rest.next()
      }
      group?.hasShortURL = hasShortURL
      if let group, group.entries > 1 || hasShortURL {
        try groups.insert(group, by: group.id.scratchKey)
      }
    }
    var sorted = try groups.removeAll()
    while let group = try sorted.next() { try body(group) }
  }
}

/// An entry of whose URL a part is left out.
private struct ShortenedURL {
  let id: StoredResponse.ID
  let url: ByteString
  let size: ByteCount
}

/// The digest of a URL that is compared with others.
private struct URLToCompare: ScratchRow {
  let digest: TextDigest
  /// The entry, if a part of its URL was left out.
  let entry: ShortenedURL?

  init(digest: TextDigest, entry: ShortenedURL?) { (self.digest, self.entry) = (digest, entry) }

  func pack(into values: inout PackedValues) {
    values.append(digest: digest)
    values.append(entry) {
      $0.append(id: $1.id)
      $0.append($1.url)
      $0.append($1.size.bytes)
    }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    digest = try reader.digest()
    entry = try reader.optional { reader throws(PackedReader.Failure) in
      ShortenedURL(
        id: try reader.id(), url: try reader.text(), size: ByteCount(try reader.number()))
    }
  }
}

extension EqualURLs.Group: ScratchRow {
  public func pack(into values: inout PackedValues) {
    values.append(id: id)
    values.append(url)
    for number in [entries, bytes.bytes, largest.bytes] { values.append(number) }
    values.append(hasShortURL)
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    (id, url) = (try reader.id(), try reader.text())
    (entries, bytes) = (try reader.number(), ByteCount(try reader.number()))
    largest = ByteCount(try reader.number())
    hasShortURL = try reader.flag()
  }
}
