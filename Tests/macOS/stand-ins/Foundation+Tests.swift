// The part of Foundation that only the tests use, as Apple's SDK declares it, for type checking only.

extension URL {
  public init(filePath path: String) {}
  public init(fileURLWithPath path: String) {}
  public func path(percentEncoded: Bool = true) -> String { "" }
  public var path: String { "" }
  public var standardizedFileURL: URL { self }
  public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
    URLResourceValues()
  }
  public var lastPathComponent: String { "" }
  public var pathExtension: String { "" }
  public func deletingLastPathComponent() -> URL { self }
  public func appending(path: some StringProtocol) -> URL { self }
  public func appending(component: some StringProtocol) -> URL { self }
  public func appending<S: StringProtocol>(components: S...) -> URL { self }
}

public struct URLResourceKey: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let isRegularFileKey = URLResourceKey(rawValue: "")
  public static let fileSizeKey = URLResourceKey(rawValue: "")
}

public struct URLResourceValues {
  public var isRegularFile: Bool? { nil }
  public var fileSize: Int? { nil }
}

extension Data: ContiguousBytes {
  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let atomic = WritingOptions(rawValue: 1 << 0)
  }
  public struct Base64EncodingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }
  public init(contentsOf url: URL) throws {}
  public init(count: Int) {}
  public init(repeating: UInt8, count: Int) {}
  public init?(base64Encoded: String) {}
  public func write(to url: URL, options: WritingOptions = []) throws {}
  public mutating func resetBytes(in range: Range<Int>) {}
  public func range(of data: Data) -> Range<Int>? { nil }
  public func base64EncodedString(options: Base64EncodingOptions = []) -> String { "" }
  public func base64EncodedData(options: Base64EncodingOptions = []) -> Data { self }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    unsafe try body(UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

extension Data: RangeReplaceableCollection {
  public mutating func replaceSubrange(_ range: Range<Int>, with bytes: some Collection<UInt8>) {}
}

extension Data {
  public subscript(bounds: Range<Int>) -> Data {
    get { self }
    set {}
  }
}

public protocol ContiguousBytes {}

extension String {
  public init(contentsOf url: URL, encoding: Encoding) throws { self.init() }
  public init(contentsOfFile path: String, encoding: Encoding) throws { self.init() }
  public init(format: String, _ arguments: any CVarArg...) { self.init() }
  public func write(toFile path: String, atomically: Bool, encoding: Encoding) throws {}
  public func write(to url: URL, atomically: Bool, encoding: Encoding) throws {}
}

public struct CharacterSet: Hashable, Sendable {
  public static let whitespaces = CharacterSet()
  public static let whitespacesAndNewlines = CharacterSet()
}

extension StringProtocol {
  public func components(separatedBy separator: some StringProtocol) -> [String] { [] }
  public func trimmingCharacters(in set: CharacterSet) -> String { "" }
  public func replacingOccurrences(of target: some StringProtocol, with text: some StringProtocol)
    -> String
  {
    ""
  }
  public func data(using encoding: String.Encoding) -> Data? { nil }
}

public struct UUID: Hashable, Sendable, Codable {
  public init() {}
  public init?(uuidString: String) {}
  public var uuidString: String { "" }
}

public struct Date: Hashable, Comparable, Sendable, Codable {
  public init() {}
  public init(timeIntervalSinceNow: TimeInterval) {}
  public init(timeIntervalSince1970: TimeInterval) {}
  public init(timeIntervalSinceReferenceDate: TimeInterval) {}
  public static var now: Date { Date() }
  public var timeIntervalSince1970: TimeInterval { 0 }
  public var timeIntervalSinceReferenceDate: TimeInterval { 0 }
  public func addingTimeInterval(_ interval: TimeInterval) -> Date { self }
  public static func < (a: Date, b: Date) -> Bool { false }
}

public struct TimeZone: Hashable, Sendable {
  public init?(secondsFromGMT: Int) {}
}

public struct DateComponents: Hashable, Sendable {
  public init(
    calendar: Calendar? = nil, timeZone: TimeZone? = nil, era: Int? = nil, year: Int? = nil,
    month: Int? = nil, day: Int? = nil, hour: Int? = nil, minute: Int? = nil, second: Int? = nil
  ) {}
  public var year: Int?
  public var month: Int?
  public var day: Int?
  public var hour: Int?
  public var minute: Int?
  public var second: Int?
  public var weekday: Int?
}

public struct Calendar: Hashable, Sendable {
  public enum Identifier: Sendable { case gregorian }
  public enum Component: Hashable, Sendable { case year, month, day, hour, minute, second, weekday }
  public init(identifier: Identifier) {}
  // swift-format-ignore: NeverForceUnwrap
  public var timeZone: TimeZone {
    get { TimeZone(secondsFromGMT: 0)! }
    set {}
  }
  public func date(from components: DateComponents) -> Date? { nil }
  public func component(_ component: Component, from date: Date) -> Int { 0 }
  public func dateComponents(_ components: Set<Component>, from date: Date) -> DateComponents {
    DateComponents()
  }
}

public func NSTemporaryDirectory() -> String { "" }

public struct FileAttributeKey: Hashable, RawRepresentable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public static let modificationDate = FileAttributeKey(rawValue: "")
  public static let posixPermissions = FileAttributeKey(rawValue: "")
  public static let size = FileAttributeKey(rawValue: "")
  public static let referenceCount = FileAttributeKey(rawValue: "")
}

open class FileManager: NSObject, @unchecked Sendable {
  open class var `default`: FileManager { FileManager() }
  open var temporaryDirectory: URL { URL(filePath: "") }
  open var currentDirectoryPath: String { "" }
  open func createDirectory(
    at url: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil
  ) throws {}
  open func createDirectory(
    atPath path: String, withIntermediateDirectories: Bool,
    attributes: [FileAttributeKey: Any]? = nil
  ) throws {}
  @discardableResult open func createFile(
    atPath path: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil
  ) -> Bool { false }
  open func removeItem(at url: URL) throws {}
  open func removeItem(atPath path: String) throws {}
  open func copyItem(at url: URL, to other: URL) throws {}
  open func copyItem(atPath path: String, toPath other: String) throws {}
  open func moveItem(at url: URL, to other: URL) throws {}
  open func moveItem(atPath path: String, toPath other: String) throws {}
  open func linkItem(atPath path: String, toPath other: String) throws {}
  open func createSymbolicLink(atPath path: String, withDestinationPath other: String) throws {}
  open func createSymbolicLink(at url: URL, withDestinationURL other: URL) throws {}
  open func fileExists(atPath path: String) -> Bool { false }
  open func isExecutableFile(atPath path: String) -> Bool { false }
  open func contents(atPath path: String) -> Data? { nil }
  open func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
  open func subpathsOfDirectory(atPath path: String) throws -> [String] { [] }
  open func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] { [:] }
  open func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
  }
}

open class FileHandle: NSObject, @unchecked Sendable {
  open class var nullDevice: FileHandle { FileHandle() }
  public convenience init(forReadingFrom url: URL) throws { self.init() }
  public convenience init(forWritingTo url: URL) throws { self.init() }
  public convenience init(forUpdating url: URL) throws { self.init() }
  public convenience init?(forReadingAtPath path: String) { self.init() }
  public convenience init?(forWritingAtPath path: String) { self.init() }
  public convenience init?(forUpdatingAtPath path: String) { self.init() }
  open var availableData: Data { Data() }
  open func readToEnd() throws -> Data? { nil }
  open func read(upToCount count: Int) throws -> Data? { nil }
  open func write(contentsOf data: some DataProtocol) throws {}
  @discardableResult open func seekToEnd() throws -> UInt64 { 0 }
  open func seek(toOffset offset: UInt64) throws {}
  open func truncate(atOffset offset: UInt64) throws {}
  open func synchronize() throws {}
  open func close() throws {}
}

public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
extension Data: DataProtocol {}
extension [UInt8]: DataProtocol {}

open class Pipe: NSObject, @unchecked Sendable {
  open var fileHandleForReading: FileHandle { FileHandle() }
  open var fileHandleForWriting: FileHandle { FileHandle() }
}

open class Process: NSObject, @unchecked Sendable {
  public enum TerminationReason: Int, Sendable { case exit = 1, uncaughtSignal }
  open var executableURL: URL?
  open var arguments: [String]?
  open var environment: [String: String]?
  open var currentDirectoryURL: URL?
  open var standardInput: Any?
  open var standardOutput: Any?
  open var standardError: Any?
  open var terminationStatus: Int32 { 0 }
  open var terminationReason: TerminationReason { .exit }
  open var isRunning: Bool { false }
  open var processIdentifier: Int32 { 0 }
  open func run() throws {}
  open func terminate() {}
  open func interrupt() {}
  open func waitUntilExit() {}
}

open class ProcessInfo: NSObject, @unchecked Sendable {
  open class var processInfo: ProcessInfo { ProcessInfo() }
  open var environment: [String: String] { [:] }
  open var activeProcessorCount: Int { 1 }
  open var processIdentifier: Int32 { 0 }
}

open class Bundle: NSObject, @unchecked Sendable {
  open class var main: Bundle { Bundle() }
  open class var allBundles: [Bundle] { [] }
  open var bundlePath: String { "" }
  open var bundleURL: URL { URL(filePath: "") }
}

open class JSONDecoder {
  public init() {}
  open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}

open class PropertyListDecoder {
  public init() {}
  open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}

open class JSONSerialization: NSObject {
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let fragmentsAllowed = ReadingOptions(rawValue: 1 << 2)
  }
  open class func jsonObject(with data: Data, options: ReadingOptions = []) throws -> Any { 0 }
}

open class PropertyListSerialization: NSObject {
  public enum PropertyListFormat: UInt, Sendable { case xml = 100, binary = 200 }
  public struct ReadOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }
  open class func propertyList(
    from data: Data, options: ReadOptions = [],
    format: UnsafeMutablePointer<PropertyListFormat>?
  ) throws -> Any { 0 }
}

public protocol NSCoding {}
public protocol NSSecureCoding: NSCoding {}

open class NSKeyedArchiver: NSObject {
  open class func archivedData(withRootObject object: Any, requiringSecureCoding: Bool) throws
    -> Data
  {
    Data()
  }
}

open class NSKeyedUnarchiver: NSObject {
  public class func unarchivedObject<T: NSObject & NSSecureCoding>(
    ofClass type: T.Type, from data: Data
  ) throws -> T? { nil }
  public class func unarchivedObject(ofClasses types: [AnyClass], from data: Data) throws -> Any? {
    nil
  }
}
