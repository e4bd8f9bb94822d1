public import Administration
public import ResponseStorage

/// An entry in two stores, and the difference between its bodies if they were compared.
public struct EntryDifference: Sendable {
  /// The entry in the first store, decoded completely; `nil` if it is not there.
  public var first: StoredResponse?

  /// The entry in the second store, decoded completely; `nil` if it is not there.
  public var second: StoredResponse?

  /// The difference between the bodies; `nil` if they were not compared.
  public var body: BodyDifference?

  /// Creates the difference.
  public init(first: StoredResponse?, second: StoredResponse?, body: BodyDifference?) {
    (self.first, self.second, self.body) = (first, second, body)
  }
}
