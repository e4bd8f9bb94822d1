public import Bytes

// A class, because headers may be in any order, and later ones add to tables that were created
// earlier.
/// A table or value of a document that is being read.
final class TOMLNode {
  /// How a table was created, which decides what may be added to it.
  enum State {
    /// As a parent of another table: a header may still declare it.
    case implied
    /// By a header, or by dotted keys below an earlier header: no keys may be added from elsewhere.
    case declared
    /// By dotted keys below the header with this number, where more keys may follow.
    case dotted(section: Int)
  }

  enum Content {
    case value(TOMLValue.Content)
    case table(State)
    /// An array of tables, each with its own header.
    case tables
  }

  var content: Content
  let range: Range<Int>
  /// The tables of an array, in the order of their headers.
  private var elements: [TOMLNode] = []
  private(set) var members: [(key: TOMLKey, node: TOMLNode)] = []
  private var places: [ByteString: Int] = [:]

  init(_ content: Content, at range: Range<Int>) {
    (self.content, self.range) = (content, range)
  }

  func member(_ key: TOMLKey) -> TOMLNode? { places[key.name].map { members[$0].node } }

  func add(_ key: TOMLKey, _ node: TOMLNode) {
    places[key.name] = members.count
    members.append((key, node))
  }

  /// The table or value, with its contents.
  var value: TOMLValue {
    switch content {
    case .value(let content): TOMLValue(content: content, range: range)
    case .table: TOMLValue(content: .table(table), range: range)
    case .tables: TOMLValue(content: .array(elements.map(\.value)), range: range)
    }
  }

  var table: TOMLTable {
    TOMLTable(
      members: members.map {
        TOMLTable.Member(key: $0.key.name, range: $0.key.range, value: $0.node.value)
      })
  }
}

/// A key, or a part of a dotted key.
struct TOMLKey {
  let name: ByteString
  let range: Range<Int>
}

extension TOMLNode {
  /// Returns the table at a path, and creates missing tables on the way.
  func descend(to path: ArraySlice<TOMLKey>) throws(TOMLError) -> TOMLNode {
    var node = self
    for key in path {
      guard let next = node.member(key) else {
        let table = TOMLNode(.table(.implied), at: key.range)
        node.add(key, table)
        node = table
        continue
      }
      switch next.content {
      case .table: node = next
      // In TOML, a header below an array of tables refers to the last table.
      case .tables: node = next.elements.last ?? next
      case .value:
        throw TOMLError("this key already has a value that is not a table", at: key.range)
      }
    }
    return node
  }

  /// Declares the table of a header.
  func declare(_ path: [TOMLKey]) throws(TOMLError) -> TOMLNode {
    guard let last = path.last else { return self }
    let parent = try descend(to: path.dropLast())
    guard let found = parent.member(last) else {
      let table = TOMLNode(.table(.declared), at: last.range)
      parent.add(last, table)
      return table
    }
    // `[a.b]` followed by `[a]` is valid TOML, but `[a]` twice is not.
    guard case .table(.implied) = found.content else {
      throw TOMLError("duplicate table", at: last.range)
    }
    found.content = .table(.declared)
    return found
  }

  /// Adds a table to the array named by a header.
  func append(_ path: [TOMLKey]) throws(TOMLError) -> TOMLNode {
    guard let last = path.last else { return self }
    let parent = try descend(to: path.dropLast())
    let table = TOMLNode(.table(.declared), at: last.range)
    let array = parent.member(last) ?? TOMLNode(.tables, at: last.range)
    guard case .tables = array.content else {
      throw TOMLError("this key already has a value that is not an array of tables", at: last.range)
    }
    if array.elements.isEmpty { parent.add(last, array) }
    array.elements.append(table)
    return table
  }

  /// Sets the value of a key, possibly dotted.
  ///
  /// - Parameter section: The number of the header above the key.
  func set(_ path: [TOMLKey], _ value: TOMLValue, section: Int) throws(TOMLError) {
    guard let last = path.last else { return }
    var node = self
    for key in path.dropLast() {
      guard let next = node.member(key) else {
        let table = TOMLNode(.table(.dotted(section: section)), at: key.range)
        node.add(key, table)
        node = table
        continue
      }
      switch next.content {
      case .table(.implied): next.content = .table(.dotted(section: section))
      case .table(.dotted(section)): break
      default:
        throw TOMLError("this key already has a value that cannot be extended", at: key.range)
      }
      node = next
    }
    guard node.member(last) == nil else {
      throw TOMLError("duplicate key", at: last.range)
    }
    node.add(last, TOMLNode(.value(value.content), at: value.range))
  }
}

/// A value of a TOML document, with its place.
public struct TOMLValue: Hashable, Sendable {
  /// The content of a value.
  public enum Content: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case array([TOMLValue])
    case table(TOMLTable)
  }

  /// The content.
  public let content: Content
  /// The range in the document, in bytes; for a table with a header, the range of the header.
  public let range: Range<Int>
}

/// A table of a TOML document.
public struct TOMLTable: Hashable, Sendable {
  /// A key with its value.
  public struct Member: Hashable, Sendable {
    /// The key.
    public let key: ByteString
    /// The range of the first key of the member in the document, in bytes.
    public let range: Range<Int>
    /// The value.
    public let value: TOMLValue
  }

  /// The members, in the order of first appearance; keys are unique.
  public let members: [Member]
}

/// An error in a document, with its position.
public struct TOMLError: Error, Hashable, Sendable {
  /// The error: a clause.
  public let reason: String
  /// The range in the document, in bytes.
  public let range: Range<Int>

  init(_ reason: String, at range: Range<Int>) {
    (self.reason, self.range) = (reason, range)
  }
}
