public import Bytes

internal import Files

/// Creates a Foundation store: a folder of archives, one for each stored response.
public struct FoundationStoreWriter: ~Copyable {
  private let path: String

  /// Creates an empty store in a folder, and the folder if it does not exist.
  ///
  /// - Throws: ``StoreError``, also if the folder already contains stored responses.
  public init(creating directory: String) throws {
    path = directory
    do throws(FileError) { try Directory.create(directory) } catch {
      // What is missing is the folder above, and no cache.
      if error.kind == .notFound {
        throw StoreError(.inputOutput, at: directory, because: error.reason)
      }
      guard error.kind == .exists else { throw StoreError(error, path: directory) }
      // Temporary files that an interrupted process left behind do no harm.
      guard try FoundationFiles(at: directory).names().allSatisfy({ $0.kind == .temporary }) else {
        throw StoreError(
          .inputOutput, at: directory, because: "it already contains stored responses")
      }
    }
  }

  /// Stores a response to a request for `url`.
  ///
  /// - Parameters:
  ///   - url: The requested URL, from which the key is derived.
  ///   - stored: When the response is stored; the fraction of a second is dropped.
  ///   - archive: The bytes of a ``FoundationArchive``.
  /// - Returns: The id of the response; `nil` if Foundation would keep it in memory only, as no file can have
  ///   the name of its key.
  /// - Throws: ``StoreError``, also if the store already has a response with this key and second.
  @discardableResult
  public borrowing func insert(
    _ archive: [UInt8], for url: ByteString, stored: Timestamp
  ) throws(StoreError) -> StoredResponse.ID? {
    let seconds = Int64(stored.secondsSince2001.rounded(.towardZero))
    guard let name = FoundationKey(of: url)?.fileName(storedAt: seconds) else { return nil }
    // Written under its final name at once, as no process uses a store that is being made.
    try write(archive, to: name.bytes)
    return .file(name.id)
  }

  /// Leaves a temporary file behind, like a process that ends while it stores a response.
  ///
  /// - Parameter suffix: The end of the file name: letters and digits.
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
