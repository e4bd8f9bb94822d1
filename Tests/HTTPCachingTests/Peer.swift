import Foundation
import Testing

/// hishel, a Python cache for HTTP clients, as an independent implementation to compare with.
///
/// `Tests/run.sh` installs it into `.build/peers`.
enum Peer {
  /// The result for a case.
  struct Answer: Decodable {
    /// The lifetime at the time of receipt, in seconds, or `nil`; negative if there is none.
    var lifetime: Int64?
    /// The lifetime now, as hishel's depends on the time.
    var lifetimeNow: Int64?
    var age: Int64
    var reuses: Bool
    var stores: Bool
    /// The preconditions, by name.
    var conditions: [String: String]
    /// The fields after a 304, by name in lowercase, or `nil` if it updates nothing.
    var updated: [String: [String]]?
  }

  static let hint: Comment = "there is no hishel 2.0.0 in .build/peers: run sh Tests/run.sh"

  static var isInstalled: Bool {
    FileManager.default.fileExists(
      atPath: packages.appending(path: "hishel-2.0.0.dist-info").path())
  }

  /// Returns the results for cases, which are sent as lines of JSON.
  static func answers(to cases: [PeerCase]) throws -> [Answer] {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let lines = try cases.map { try JSONEncoder().encode($0) + Data("\n".utf8) }
    try Data(lines.joined()).write(to: file)
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", program, file.path()]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PYTHONPATH": packages.path()]
    ) { _, new in new }
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return try output.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Answer.self, from: $0)
    }
  }

  private static let packages = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(components: "..", "..", ".build", "peers").standardizedFileURL

  private static let program = #"""
    import json, sys, uuid
    from hishel import (
        CacheMiss, Entry, FromCache, Headers, IdleClient, NeedRevalidation, NeedToBeUpdated,
        Request, Response, StoreAndUse,
    )
    from hishel._core import _spec

    class Clock:
        def time(self):
            return self.now

    # All that reads the time there is in this module.
    clock = _spec.time = Clock()
    options = {"shared": False, "supported_methods": ["GET", "HEAD"], "allow_stale": False}
    url = "https://a.example/"

    def headers(lines):
        result = {}
        for name, value in lines:
            result.setdefault(name.lower(), []).append(value)
        return Headers(result)

    def lists(headers):
        return {name.lower(): headers.get_list(name) for name in headers}

    def answer(case):
        stored = Request(case["method"], url, headers(case["request"]))
        presented = Request(case["method"], url, headers(case["presented"]))
        response = Response(case["status"], headers(case["response"]))
        entry = Entry(uuid.uuid4(), stored, response)
        clock.now = case["received"]
        lifetime = _spec.get_freshness_lifetime(response, False)
        storing = CacheMiss(request=stored, options=options).next(response)
        clock.now = case["now"]
        state = IdleClient(options).next(presented, [entry])
        asking = _spec.make_conditional_request(presented, response).headers
        update = NeedRevalidation(
            request=presented, original_request=presented, revalidating_entries=[entry],
            options=options,
        ).next(Response(304, headers(case["notModified"])))
        updated = None
        if isinstance(update, NeedToBeUpdated):
            updated = lists(update.updating_entries[0].response.headers)
        names = ("If-None-Match", "If-Modified-Since")
        return {
            "lifetime": lifetime,
            "lifetimeNow": _spec.get_freshness_lifetime(response, False),
            "age": _spec.get_age(response),
            "reuses": isinstance(state, FromCache),
            "stores": isinstance(storing, StoreAndUse),
            "conditions": {name: asking[name] for name in names if name in asking},
            "updated": updated,
        }

    for line in open(sys.argv[1]):
        print(json.dumps(answer(json.loads(line))))
    """#
}
