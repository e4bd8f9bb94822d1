#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A reader of data in the Brotli format (RFC 7932), which decodes on demand.
///
/// The data has no signature and no checksum. The memory it needs does not depend on the length of the data: at most
/// about 17 MiB, for its window.
public final class BrotliReader {
  private let decoder: BrotliDecoder
  private let read: (inout [UInt8]) throws -> Int
  private let limit: Int64
  private var room: Int64
  private var chunk = [UInt8](repeating: 0, count: 1 << 16)
  private var unread = 0..<0
  private var (isExhausted, hasEnded) = (false, false)
  /// The number of coded bytes that were read, and that were used.
  private var (end, used) = (0 as Int64, 0 as Int64)

  /// Whether this system can decode Brotli.
  public static var isSupported: Bool { BrotliDecoder.isSupported }

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - limit: The most bytes to decode; more are an error.
  ///   - read: Fills the start of an array with the next bytes of the data, and returns their number; 0 at the end.
  /// - Throws: ``ContentDecodingError`` if this system cannot decode Brotli.
  public init(limit: Int64, reading read: @escaping (inout [UInt8]) throws -> Int) throws {
    guard let decoder = BrotliDecoder() else { throw ContentDecodingError.brotliNotSupported }
    (self.decoder, self.read, self.limit, room) = (decoder, read, limit, limit)
  }

  /// Reads the next bytes into the start of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes; 0 at the end. Bytes after the end of the data are ignored.
  /// - Throws: ``ContentDecodingError``, or any error of the reader's closure.
  public func read(into buffer: inout [UInt8]) throws -> Int {
    while !hasEnded {
      if unread.isEmpty, !isExhausted {
        let count = try read(&chunk)
        (unread, isExhausted) = (0..<count, count == 0)
        end += Int64(count)
      }
      let step = decoder.decode(chunk[unread], into: &buffer, isLast: isExhausted)
      unread = unread.dropFirst(step.used)
      used += Int64(step.used)
      hasEnded = step.state == .ended
      if step.made > 0 {
        room -= Int64(step.made)
        guard room >= 0 else { throw ContentDecodingError.tooLarge(limit) }
        return step.made
      }
      switch step.state {
      case .ended, .needsRoom: break
      case .needsData where isExhausted: throw ContentDecodingError.endsTooEarly(end)
      case .needsData: break
      case .broken: throw ContentDecodingError.broken(from: used, because: "it is not Brotli data")
      }
    }
    return 0
  }

  /// Whether the start of some data can be the start of Brotli data, which nothing follows.
  ///
  /// - Parameter isWhole: Whether there is no more data.
  public static func accepts(_ start: ArraySlice<UInt8>, isWhole: Bool) -> Bool {
    guard let decoder = BrotliDecoder() else { return false }
    var rest = start
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let step = decoder.decode(rest, into: &buffer, isLast: isWhole)
      rest = rest.dropFirst(step.used)
      switch step.state {
      case .broken: return false
      case .ended: return rest.isEmpty && isWhole
      case .needsData where rest.isEmpty: return true
      // A decoder that neither takes nor gives anything would never end.
      case .needsData, .needsRoom: if step.used == 0, step.made == 0 { return true }
      }
    }
  }
}

extension ContentDecodingError {
  static let brotliNotSupported = Self(
    kind: .notSupported,
    description: "this system has no library that decodes Brotli (libbrotlidec)")
}

/// A step of decoding Brotli.
private struct BrotliStep {
  enum State { case needsData, needsRoom, ended, broken }

  var state: State
  /// The number of coded bytes that were used, and of bytes that were decoded.
  var (used, made) = (0, 0)
}

#if canImport(Darwin)
  /// A decoder of the Compression framework, which is part of the system.
  @safe
  private final class BrotliDecoder {
    /// `compression_stream`.
    @unsafe
    private struct Stream {
      var target: UnsafeMutablePointer<UInt8>?
      var room = 0
      var source: UnsafePointer<UInt8>?
      var count = 0
      var state: UnsafeMutableRawPointer?
    }

    private typealias Initialize =
      @convention(c) (UnsafeMutableRawPointer, Int32, Int32) -> Int32
    private typealias Process = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    private typealias Destroy = @convention(c) (UnsafeMutableRawPointer) -> Int32

    @safe
    private struct Library: @unchecked Sendable {
      let initialize: Initialize
      let process: Process
      let destroy: Destroy
    }

    private static let library: Library? = {
      guard let handle = unsafe dlopen("/usr/lib/libcompression.dylib", RTLD_NOW),
        let initialize = unsafe dlsym(handle, "compression_stream_init"),
        let process = unsafe dlsym(handle, "compression_stream_process"),
        let destroy = unsafe dlsym(handle, "compression_stream_destroy")
      else { return nil }
      return unsafe Library(
        initialize: unsafeBitCast(initialize, to: Initialize.self),
        process: unsafeBitCast(process, to: Process.self),
        destroy: unsafeBitCast(destroy, to: Destroy.self))
    }()

    static var isSupported: Bool { library != nil }

    private let library: Library
    private let stream: UnsafeMutablePointer<Stream>

    init?() {
      guard let library = Self.library else { return nil }
      self.library = library
      unsafe stream = .allocate(capacity: 1)
      unsafe stream.initialize(to: Stream())
      // COMPRESSION_STREAM_DECODE, COMPRESSION_BROTLI
      guard unsafe library.initialize(stream, 1, 0xB02) == 0 else { return nil }
    }

    deinit {
      _ = unsafe library.destroy(stream)
      unsafe stream.deallocate()
    }

    func decode(
      _ bytes: ArraySlice<UInt8>, into buffer: inout [UInt8], isLast: Bool
    ) -> BrotliStep {
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe buffer.withUnsafeMutableBufferPointer { buffer in
          unsafe stream.pointee.target = buffer.baseAddress
          unsafe stream.pointee.room = buffer.count
          unsafe stream.pointee.source = bytes.baseAddress
          unsafe stream.pointee.count = bytes.count
          let status = unsafe library.process(stream, isLast ? 1 : 0)
          let used = unsafe bytes.count - stream.pointee.count
          let made = unsafe buffer.count - stream.pointee.room
          let state: BrotliStep.State =
            switch status {
            case 1: .ended
            case 0: unsafe stream.pointee.room == 0 ? .needsRoom : .needsData
            default: .broken
            }
          return BrotliStep(state: state, used: used, made: made)
        }
      }
    }
  }
#else
  /// A decoder of libbrotlidec, which is loaded when the first Brotli data is met: most caches have none, and a system
  /// may lack the library.
  @safe
  private final class BrotliDecoder {
    private typealias Create =
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
      ) -> OpaquePointer?
    private typealias Destroy = @convention(c) (OpaquePointer) -> Void
    private typealias Decompress =
      @convention(c) (
        OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
        UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        UnsafeMutablePointer<Int>?
      ) -> Int32

    @safe
    private struct Library: @unchecked Sendable {
      let create: Create
      let destroy: Destroy
      let decompress: Decompress
    }

    private static let library: Library? = {
      // The version of the binary interface, which all versions of the library have.
      guard let handle = unsafe dlopen("libbrotlidec.so.1", RTLD_NOW),
        let create = unsafe dlsym(handle, "BrotliDecoderCreateInstance"),
        let destroy = unsafe dlsym(handle, "BrotliDecoderDestroyInstance"),
        let decompress = unsafe dlsym(handle, "BrotliDecoderDecompressStream")
      else { return nil }
      return unsafe Library(
        create: unsafeBitCast(create, to: Create.self),
        destroy: unsafeBitCast(destroy, to: Destroy.self),
        decompress: unsafeBitCast(decompress, to: Decompress.self))
    }()

    static var isSupported: Bool { library != nil }

    private let library: Library
    private let pointer: OpaquePointer

    init?() {
      guard let library = Self.library, let pointer = unsafe library.create(nil, nil, nil) else {
        return nil
      }
      self.library = library
      unsafe self.pointer = pointer
    }

    deinit {
      unsafe library.destroy(pointer)
    }

    func decode(
      _ bytes: ArraySlice<UInt8>, into buffer: inout [UInt8], isLast: Bool
    ) -> BrotliStep {
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe buffer.withUnsafeMutableBufferPointer { buffer in
          var (source, target) = (bytes.baseAddress, buffer.baseAddress)
          var (count, room) = (bytes.count, buffer.count)
          let result = unsafe library.decompress(pointer, &count, &source, &room, &target, nil)
          let state: BrotliStep.State =
            switch result {
            case 1: .ended
            case 2: .needsData
            case 3: .needsRoom
            default: .broken
            }
          return BrotliStep(state: state, used: bytes.count - count, made: buffer.count - room)
        }
      }
    }
  }
#endif
