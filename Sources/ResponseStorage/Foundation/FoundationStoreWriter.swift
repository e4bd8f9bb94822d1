public import Bytes

internal import Files

/// Creates a Foundation store: a folder of archives, one for each stored response.
public struct FoundationStoreWriter: ~Copyable {
  private let path: String

  /// Creates an empty store in a folder, and the folder unless it is there.
  ///
  /// - Throws: ``StoreError``, also if the folder holds stored responses already.
  public init(creating directory: String) throws {
    path = directory
    do throws(FileError) { try Directory.create(directory) } catch {
      guard error.kind == .exists else { throw StoreError(error, path: directory) }
      // What a process has left that was ended while it wrote is in nobody's way.
      guard try FoundationFiles(at: directory).names().allSatisfy({ $0.kind == .temporary }) else {
        throw StoreError(.inputOutput, at: directory, because: "it holds stored responses already")
      }
    }
  }

  /// Stores a response as the answer to a request for `url`.
  ///
  /// - Parameters:
  ///   - url: The URL that was asked for, from which the key is made.
  ///   - stored: When the response is stored; the fraction of a second is dropped.
  ///   - archive: The bytes of a ``FoundationArchive``.
  /// - Returns: What the store calls the response; `nil` if Foundation would keep it in memory only, as no
  ///   file can have the name of its key.
  /// - Throws: ``StoreError``, also if the store has a response of this key and second already.
  @discardableResult
  public borrowing func insert(
    _ archive: [UInt8], for url: ByteString, stored: Timestamp
  ) throws(StoreError) -> StoredResponse.ID? {
    let seconds = Int64(stored.secondsSince2001.rounded(.towardZero))
    guard let name = FoundationKey(of: url)?.fileName(storedAt: seconds) else { return nil }
    try write(archive, to: name.bytes)
    return .file(name.id)
  }

  /// Leaves a file behind as a process does that ends while it stores a response.
  ///
  /// - Parameter suffix: What the name of the file ends with: letters and digits.
  public borrowing func insertTemporaryFile(
    _ bytes: [UInt8], suffix: String
  ) throws(StoreError) {
    try write(bytes, to: FoundationFileName.temporaryPrefix + Array(suffix.utf8))
  }

  private borrowing func write(_ bytes: [UInt8], to name: [UInt8]) throws(StoreError) {
    let file = "\(path)/\(String(decoding: name, as: UTF8.self))"
    do throws(FileError) { try OpenFile(creating: file).write(bytes) } catch {
      throw StoreError(error, path: file)
    }
  }
}
