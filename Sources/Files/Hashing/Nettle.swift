#if !canImport(CryptoKit)
  import CNettle

  // Nettle's hash functions with CryptoKit's names and interface, so that each hasher needs only one implementation.
  // libarchive already loads Nettle, so it costs nothing at run time.

  typealias SHA256 = NettleHash<sha256_ctx>
  typealias SHA512 = NettleHash<sha512_ctx>

  /// Hash functions that detect damage, but not forgery.
  enum Insecure {
    typealias MD5 = NettleHash<md5_ctx>
    typealias SHA1 = NettleHash<sha1_ctx>
  }

  /// The state of one of Nettle's hash functions.
  protocol NettleContext: Sendable {
    /// The number of bytes in a digest.
    static var digestSize: Int { get }

    init()

    /// Starts a digest of no bytes.
    mutating func start()

    /// Adds bytes to the message.
    mutating func add(_ count: Int, _ bytes: UnsafePointer<UInt8>?)

    /// Writes the digest, and starts a new one.
    mutating func finish(into digest: UnsafeMutablePointer<UInt8>)
  }

  /// A hash of a message, computed incrementally.
  struct NettleHash<Context: NettleContext>: Sendable {
    private var context = Context()

    init() {
      context.start()
    }

    mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
      unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        unsafe context.add(bytes.count, bytes.baseAddress)
      }
    }

    /// The digest of all bytes so far; more can be added afterwards.
    func finalize() -> [UInt8] {
      // A copy, as finishing a digest in Nettle starts a new one.
      var context = context
      return unsafe [UInt8](unsafeUninitializedCapacity: Context.digestSize) { digest, count in
        // An array with a capacity has an address.
        if let digest = digest.baseAddress { unsafe context.finish(into: digest) }
        count = Context.digestSize
      }
    }
  }

  extension md5_ctx: NettleContext {
    static var digestSize: Int { Int(MD5_DIGEST_SIZE) }

    mutating func start() { unsafe nettle_md5_init(&self) }

    mutating func add(_ count: Int, _ bytes: UnsafePointer<UInt8>?) {
      unsafe nettle_md5_update(&self, count, bytes)
    }

    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
      unsafe cnettle_md5_digest(&self, digest)
    }
  }

  extension sha1_ctx: NettleContext {
    static var digestSize: Int { Int(SHA1_DIGEST_SIZE) }

    mutating func start() { unsafe nettle_sha1_init(&self) }

    mutating func add(_ count: Int, _ bytes: UnsafePointer<UInt8>?) {
      unsafe nettle_sha1_update(&self, count, bytes)
    }

    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
      unsafe cnettle_sha1_digest(&self, digest)
    }
  }

  extension sha256_ctx: NettleContext {
    static var digestSize: Int { Int(SHA256_DIGEST_SIZE) }

    mutating func start() { unsafe nettle_sha256_init(&self) }

    mutating func add(_ count: Int, _ bytes: UnsafePointer<UInt8>?) {
      unsafe nettle_sha256_update(&self, count, bytes)
    }

    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
      unsafe cnettle_sha256_digest(&self, digest)
    }
  }

  extension sha512_ctx: NettleContext {
    static var digestSize: Int { Int(SHA512_DIGEST_SIZE) }

    mutating func start() { unsafe nettle_sha512_init(&self) }

    mutating func add(_ count: Int, _ bytes: UnsafePointer<UInt8>?) {
      unsafe nettle_sha512_update(&self, count, bytes)
    }

    mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
      unsafe cnettle_sha512_digest(&self, digest)
    }
  }

  extension Digest {
    /// The version of Nettle.
    public static var libraryVersion: String? {
      "\(nettle_version_major()).\(nettle_version_minor())"
    }
  }
#else
  extension Digest {
    /// CryptoKit has the version of the system.
    public static var libraryVersion: String? { nil }
  }
#endif
