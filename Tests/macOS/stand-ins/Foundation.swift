// The part of Foundation that the package and swift-argument-parser use, as Apple's SDK declares it, for type checking only.
//
// The methods of delegates are optional in Objective-C. Here they are required, so that the compiler finds those with another signature.

@_exported import Darwin
@_exported import Dispatch

public typealias TimeInterval = Double

open class NSObject: Hashable, CustomStringConvertible {
  public init() {}
  public static func == (a: NSObject, b: NSObject) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) {}
  open var description: String { "" }
}

public protocol NSObjectProtocol: AnyObject {}
extension NSObject: NSObjectProtocol {}

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public protocol CustomNSError: Error {}

open class NSError: NSObject, Error, @unchecked Sendable {}

open class JSONEncoder {
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let prettyPrinted = OutputFormatting(rawValue: 1 << 0)
    public static let sortedKeys = OutputFormatting(rawValue: 1 << 1)
  }
  public init() {}
  open var outputFormatting: OutputFormatting = []
  open func encode<T: Encodable>(_ value: T) throws -> Data { Data() }
}

extension String {
  public struct Encoding: Hashable, Sendable {
    public static let utf8 = Encoding()
  }
  public init?(data: Data, encoding: Encoding) { self.init() }
}

extension Error {
  public var localizedDescription: String { "" }
}

public struct Data: Hashable, Sendable, Codable, RandomAccessCollection, MutableCollection {
  public typealias Index = Int
  public typealias Element = UInt8
  public init() {}
  public init<S: Sequence>(_ elements: S) where S.Element == UInt8 {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { 0 }
  public subscript(index: Int) -> UInt8 {
    get { 0 }
    set {}
  }
}

public struct URL: Hashable, Sendable {
  public init?(string: String) {}
  public init?(string: String, relativeTo url: URL?) {}
  public var absoluteString: String { "" }
  public var absoluteURL: URL { self }
  public var scheme: String? { nil }
  public var port: Int? { nil }
  @available(macOS 13.0, *)
  public func host(percentEncoded: Bool = true) -> String? { nil }
}

public struct URLRequest: Hashable, Sendable {
  public typealias CachePolicy = NSURLRequest.CachePolicy
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy,
    timeoutInterval: TimeInterval = 60.0
  ) {}
  public var url: URL?
  public var httpMethod: String?
  public var httpShouldHandleCookies = true
  public var allHTTPHeaderFields: [String: String]?
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
}

open class NSURLRequest: NSObject, @unchecked Sendable {
  public enum CachePolicy: UInt, @unchecked Sendable {
    case useProtocolCachePolicy = 0
    case reloadIgnoringLocalCacheData = 1
  }
}

open class URLResponse: NSObject, @unchecked Sendable {
  open var url: URL? { nil }
}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  open var statusCode: Int { 0 }
  open var allHeaderFields: [AnyHashable: Any] { [:] }
  @available(macOS 10.15, *)
  open func value(forHTTPHeaderField field: String) -> String? { nil }
}

open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredential: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {}
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}

open class HTTPCookie: NSObject, @unchecked Sendable {
  public enum AcceptPolicy: UInt, @unchecked Sendable {
    case always, never, onlyFromMainDocumentDomain
  }
}

open class OperationQueue: NSObject, @unchecked Sendable {
  public override init() {}
  open var maxConcurrentOperationCount = 0
  @preconcurrency
  open func addOperation(_ block: @escaping @Sendable () -> Void) {}
}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
  open class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
  open var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .never
  open var httpShouldSetCookies = false
  open var httpCookieStorage: HTTPCookieStorage?
  open var urlCredentialStorage: URLCredentialStorage?
  open var urlCache: URLCache?
}

open class URLSessionTask: NSObject, @unchecked Sendable {
  open var taskIdentifier: Int { 0 }
  open var response: URLResponse? { nil }
  open var originalRequest: URLRequest? { nil }
  open func cancel() {}
  open func resume() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

open class URLSession: NSObject, @unchecked Sendable {
  public enum ResponseDisposition: Int, @unchecked Sendable {
    case cancel = 0
    case allow = 1
    case becomeDownload = 2
    case becomeStream = 3
  }

  public enum AuthChallengeDisposition: Int, @unchecked Sendable {
    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
  }

  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
    delegateQueue queue: OperationQueue?
  ) {}

  open func dataTask(with request: URLRequest) -> URLSessionDataTask { URLSessionDataTask() }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

@available(macOS 10.0, *)
open class Host: NSObject {
  public convenience init(name: String?) { self.init() }
  open var addresses: [String] { [] }
}

public struct URLError: Error, Hashable, Sendable {
  public struct Code: Hashable, RawRepresentable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
  }
  public var code: Code { Code(rawValue: 0) }
}

extension URLError.Code {
  public static var cancelled: URLError.Code { URLError.Code(rawValue: -999) }
  public static var badURL: URLError.Code { URLError.Code(rawValue: -1000) }
  public static var timedOut: URLError.Code { URLError.Code(rawValue: -1001) }
  public static var unsupportedURL: URLError.Code { URLError.Code(rawValue: -1002) }
  public static var cannotFindHost: URLError.Code { URLError.Code(rawValue: -1003) }
  public static var cannotConnectToHost: URLError.Code { URLError.Code(rawValue: -1004) }
  public static var networkConnectionLost: URLError.Code { URLError.Code(rawValue: -1005) }
  public static var dnsLookupFailed: URLError.Code { URLError.Code(rawValue: -1006) }
  public static var notConnectedToInternet: URLError.Code { URLError.Code(rawValue: -1009) }
  public static var badServerResponse: URLError.Code { URLError.Code(rawValue: -1011) }
  public static var cannotDecodeRawData: URLError.Code { URLError.Code(rawValue: -1015) }
  public static var cannotDecodeContentData: URLError.Code { URLError.Code(rawValue: -1016) }
  public static var cannotParseResponse: URLError.Code { URLError.Code(rawValue: -1017) }
  public static var secureConnectionFailed: URLError.Code { URLError.Code(rawValue: -1200) }
  public static var serverCertificateHasBadDate: URLError.Code { URLError.Code(rawValue: -1201) }
  public static var serverCertificateUntrusted: URLError.Code { URLError.Code(rawValue: -1202) }
  public static var serverCertificateHasUnknownRoot: URLError.Code {
    URLError.Code(rawValue: -1203)
  }
  public static var serverCertificateNotYetValid: URLError.Code { URLError.Code(rawValue: -1204) }
  public static var clientCertificateRejected: URLError.Code { URLError.Code(rawValue: -1205) }
  public static var clientCertificateRequired: URLError.Code { URLError.Code(rawValue: -1206) }
}
