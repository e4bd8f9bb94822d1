public import Bytes

/// How the bodies of an entry differ between two stores.
public enum BodyDifference: Sendable {
  /// Both are text, whose first lines were compared. One line of JSON is compared as many, indented.
  case lines(LineComparison, isIndented: Bool)

  /// Both are JSON, and only their white space differs.
  case sameJSON

  /// They are equal after their content codings were undone.
  case sameDecoded

  /// At least one is not text.
  case binary

  /// At least one is larger than this limit, and was not compared.
  case tooLarge(ByteCount)

  /// At least one cannot be read: its file is missing, or its content coding is broken.
  case unreadable
}
