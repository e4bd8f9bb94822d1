public import Bytes

extension StoredResponse {
  /// The request that a response answers, as far as it is known.
  public struct Request: Sendable {
    /// The method, for example `GET`.
    @inlinable public var method: ByteString? {
      _read {
        requireDecoded(.method)
        yield fields.method
      }
      _modify { yield &fields.method }
    }

    /// The requested URL.
    @inlinable public var url: ByteString? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.url
      }
      _modify { yield &fields.url }
    }

    /// The header fields of the request.
    @inlinable public var headers: HeaderFields? {
      _read {
        requireDecoded(.ofRequestHeaders)
        yield fields.headers
      }
      _modify { yield &fields.headers }
    }

    /// The raw value of `NSURLRequest.CachePolicy` on Apple platforms.
    @inlinable public var cachePolicy: Int64? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.cachePolicy
      }
      _modify { yield &fields.cachePolicy }
    }

    /// The time-out interval, in seconds.
    @inlinable public var timeoutSeconds: Double? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.timeoutSeconds
      }
      _modify { yield &fields.timeoutSeconds }
    }

    /// The body, with all parts joined.
    @inlinable public var body: [UInt8]? {
      _read {
        requireDecoded(.requestDetails)
        yield fields.body
      }
      _modify { yield &fields.body }
    }

    /// The fields without checks.
    @usableFromInline struct Fields: Hashable, Sendable {
      @usableFromInline var method: ByteString?
      @usableFromInline var url: ByteString?
      @usableFromInline var headers: HeaderFields?
      @usableFromInline var cachePolicy: Int64?
      @usableFromInline var body: [UInt8]?
      @usableFromInline var timeoutSeconds: Double?

      init() {}
    }

    @usableFromInline var fields = Fields()

    /// The decoded parts of the response.
    @usableFromInline var decoded = Projection.all

    /// Creates an empty request.
    public init() {}

    /// Stops a debug build unless a part of `projection` was decoded.
    @inlinable @inline(__always)
    func requireDecoded(_ projection: @autoclosure () -> Projection) {
      assert(!decoded.isDisjoint(with: projection()), "this part was not in the projection")
    }
  }
}

// Requests with equal parts are equal, whatever was requested.
extension StoredResponse.Request: Hashable {
  public static func == (one: Self, other: Self) -> Bool { one.fields == other.fields }

  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}
