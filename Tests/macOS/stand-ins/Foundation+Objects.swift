// The classes of Foundation that the tests archive, and what the compiler converts to them, for type checking only.

open class NSString: NSObject, NSSecureCoding, @unchecked Sendable {
  public convenience init(string: String) { self.init() }
  open var hash: Int { 0 }
  open func isEqual(to text: String) -> Bool { false }
}
open class NSMutableString: NSString, @unchecked Sendable, ExpressibleByStringLiteral {
  public convenience init(_ string: String) { self.init() }
  public required convenience init(stringLiteral: String) { self.init() }
}
open class NSArray: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSDictionary: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSNumber: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSData: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSDate: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSNull: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSUUID: NSObject, NSSecureCoding, @unchecked Sendable {}
open class NSURL: NSObject, NSSecureCoding, @unchecked Sendable {
  public convenience init?(string: String) { self.init() }
  public convenience init?(string: String, relativeTo url: URL?) { self.init() }
}
open class NSSet: NSObject, NSSecureCoding, @unchecked Sendable {
  public convenience init(object: Any) { self.init() }
}
open class NSIndexSet: NSObject, NSSecureCoding, @unchecked Sendable {
  public convenience init(index: Int) { self.init() }
}
open class NSTimeZone: NSObject, NSSecureCoding, @unchecked Sendable {
  public convenience init?(name: String) { self.init() }
}

/// A type that `as` converts to a class, and back.
public protocol Convertible: _ObjectiveCBridgeable {}

extension Convertible where _ObjectiveCType: NSObject {
  public func _bridgeToObjectiveC() -> _ObjectiveCType { fatalError() }
  public static func _forceBridgeFromObjectiveC(_ object: _ObjectiveCType, result: inout Self?) {}
  public static func _conditionallyBridgeFromObjectiveC(
    _ object: _ObjectiveCType, result: inout Self?
  ) -> Bool { false }
  public static func _unconditionallyBridgeFromObjectiveC(_ object: _ObjectiveCType?) -> Self {
    fatalError()
  }
}

extension String: Convertible { public typealias _ObjectiveCType = NSString }
extension Array: Convertible, _ObjectiveCBridgeable { public typealias _ObjectiveCType = NSArray }
extension Dictionary: Convertible, _ObjectiveCBridgeable {
  public typealias _ObjectiveCType = NSDictionary
}
extension Int: Convertible { public typealias _ObjectiveCType = NSNumber }
extension Data: Convertible { public typealias _ObjectiveCType = NSData }
extension Date: Convertible { public typealias _ObjectiveCType = NSDate }
extension UUID: Convertible { public typealias _ObjectiveCType = NSUUID }
extension URL: Convertible { public typealias _ObjectiveCType = NSURL }
