// A program that uses only Foundation's URLCache, to compare our reading and writing with. The scripts that use it
// build it. Each command writes one line of JSON per response.
//
//     StockURLCache store DIR   stores what the standard input lists
//     StockURLCache get DIR     looks up the URLs that the standard input lists
//     StockURLCache list DIR    decodes every file as URLCache does
//     StockURLCache decode DIR  does only that, and prints how many it could
//     StockURLCache usage DIR   prints currentDiskUsage
//     StockURLCache since DIR   removes what is newer than the seconds since 2001 in the standard input
//     StockURLCache load DIR    asks for the URLs of the standard input with URLSession, under a policy

import Foundation
import FoundationNetworking

/// A response to store, with its body as Base64.
struct Item: Decodable {
  var url: String
  var responseURL: String?
  var status: Int?
  var mime: String?
  var headers: [String: String]?
  var body: String
  var userInfo: [String: [String]]?
}

func write(_ object: [String: Any]) throws {
  let line = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
  // Unbuffered, so that a crash loses no line.
  FileHandle.standardOutput.write(line + Data("\n".utf8))
}

func facts(_ cached: CachedURLResponse) -> [String: Any] {
  let response = cached.response as? HTTPURLResponse
  var headers: [String: String] = [:]
  for (name, value) in response?.allHeaderFields ?? [:] { headers["\(name)"] = "\(value)" }
  return [
    "url": cached.response.url?.absoluteString ?? "", "status": response?.statusCode ?? NSNull(),
    "headers": headers, "body": cached.data.base64EncodedString(),
    "policy": cached.storagePolicy.rawValue,
    "userInfo": (cached.userInfo ?? [:]).reduce(into: [String: Any]()) {
      $0["\($1.key)"] = fact($1.value)
    },
  ]
}

func fact(_ value: Any) -> Any {
  switch value {
  case let text as String: text
  case let data as Data: ["base64": data.base64EncodedString()]
  case let date as Date: ["seconds": date.timeIntervalSinceReferenceDate]
  case let url as URL: url.absoluteString
  case let inner as [AnyHashable: Any]:
    inner.reduce(into: [String: Any]()) { $0["\($1.key)"] = fact($1.value) }
  case let number as NSNumber: number
  default: "\(type(of: value))"
  }
}

func userInfo(_ values: [String: [String]]) -> [AnyHashable: Any] {
  values.mapValues { value -> Any in
    switch value[0] {
    case "integer": Int(value[1]) ?? 0
    case "real": Double(value[1]) ?? 0
    case "date": Date(timeIntervalSinceReferenceDate: Double(value[1]) ?? 0)
    case "data": Data(value[1].utf8)
    case "url": URL(string: value[1]) ?? URL(filePath: "/")
    case "inner": ["key": ["key": value[1]]]
    case "array": [value[1]]
    case "uuid": UUID()
    case "null": NSNull()
    default: value[1]
    }
  }
}

func response(_ item: Item) -> URLResponse? {
  guard let url = URL(string: item.responseURL ?? item.url) else { return nil }
  guard let status = item.status else {
    return URLResponse(
      url: url, mimeType: item.mime, expectedContentLength: -1, textEncodingName: nil)
  }
  return HTTPURLResponse(
    url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: item.headers)
}

/// A URL to load with a request policy, given by name because the raw values differ on Linux.
struct Load: Decodable {
  var url: String
  var policy: String
  var method: String?
  var headers: [String: String]?
}

func policy(_ name: String) -> NSURLRequest.CachePolicy? {
  switch name {
  case "useProtocolCachePolicy": .useProtocolCachePolicy
  case "reloadIgnoringLocalCacheData": .reloadIgnoringLocalCacheData
  case "reloadIgnoringCacheData": .reloadIgnoringCacheData
  case "reloadIgnoringLocalAndRemoteCacheData": .reloadIgnoringLocalAndRemoteCacheData
  case "returnCacheDataElseLoad": .returnCacheDataElseLoad
  case "returnCacheDataDontLoad": .returnCacheDataDontLoad
  case "reloadRevalidatingCacheData": .reloadRevalidatingCacheData
  default: nil
  }
}

/// Returns the result of `URLSession` for a request.
func answer(_ load: Load) -> [String: Any] {
  guard let url = URL(string: load.url), let policy = policy(load.policy) else { exit(65) }
  let configuration = URLSessionConfiguration.default
  configuration.urlCache = cache
  configuration.requestCachePolicy = policy
  var request = URLRequest(url: url, cachePolicy: policy, timeoutInterval: 20)
  request.httpMethod = load.method ?? "GET"
  for (name, value) in load.headers ?? [:] { request.setValue(value, forHTTPHeaderField: name) }
  let session = URLSession(configuration: configuration)
  let end = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var result: [String: Any] = [:]
  session.dataTask(with: request) { data, response, error in
    if let error { result["error"] = (error as NSError).code }
    result["status"] = (response as? HTTPURLResponse)?.statusCode ?? NSNull()
    result["body"] = data?.base64EncodedString() ?? NSNull()
    end.signal()
  }.resume()
  end.wait()
  session.invalidateAndCancel()
  return result
}

/// Returns the response in a file, decoded like URLCache does.
func decoded(_ data: Data) -> CachedURLResponse? {
  guard let type = NSClassFromString("FoundationNetworking.StoredCachedURLResponse"),
    let object = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: [type], from: data)
  else { return nil }
  let child = Mirror(reflecting: object).children.first { $0.label == "cachedURLResponse" }
  return child?.value as? CachedURLResponse
}

guard CommandLine.arguments.count == 3 else { exit(64) }
let folder = CommandLine.arguments[2]
// Without a memory cache, every lookup reads the disk.
let cache = URLCache(memoryCapacity: 0, diskCapacity: 1 << 34, diskPath: folder)
switch CommandLine.arguments[1] {
case "store":
  let input = FileHandle.standardInput.readDataToEndOfFile()
  for item in try JSONDecoder().decode([Item].self, from: input) {
    guard let url = URL(string: item.url), let response = response(item) else { exit(65) }
    cache.storeCachedResponse(
      CachedURLResponse(
        response: response, data: Data(base64Encoded: item.body) ?? Data(),
        userInfo: item.userInfo.map(userInfo), storagePolicy: .allowed),
      for: URLRequest(url: url))
  }
case "get":
  let input = FileHandle.standardInput.readDataToEndOfFile()
  for text in try JSONDecoder().decode([String].self, from: input) {
    guard let url = URL(string: text) else { exit(65) }
    try write(cache.cachedResponse(for: URLRequest(url: url)).map(facts) ?? [:])
  }
case "load":
  let input = FileHandle.standardInput.readDataToEndOfFile()
  for load in try JSONDecoder().decode([Load].self, from: input) { try write(answer(load)) }
case "list":
  for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  where name.hasSuffix(".storedcachedurlresponse") {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
    // Print the name first, so that a crash shows which file caused it.
    FileHandle.standardError.write(Data("\(name)\n".utf8))
    var line = decoded(data).map(facts) ?? [:]
    line["name"] = name
    try write(line)
  }
case "decode":
  var count = 0
  for name in try FileManager.default.contentsOfDirectory(atPath: folder)
  where name.hasSuffix(".storedcachedurlresponse") {
    if let data = FileManager.default.contents(atPath: "\(folder)/\(name)"), decoded(data) != nil {
      count += 1
    }
  }
  try write(["decoded": count])
case "since":
  let input = FileHandle.standardInput.readDataToEndOfFile()
  guard let seconds = Double(String(decoding: input, as: UTF8.self)) else { exit(65) }
  cache.removeCachedResponses(since: Date(timeIntervalSinceReferenceDate: seconds))
case "usage": try write(["usage": cache.currentDiskUsage])
default: exit(64)
}
