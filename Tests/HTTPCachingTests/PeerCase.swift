import HTTPCaching

/// A generated case, the same in every run: a stored response, a presented request, and a 304.
struct PeerCase: Encodable {
  var method: String
  var status: Int64
  var request: [[String]] = []
  var presented: [[String]] = []
  var response: [[String]] = []
  var notModified: [[String]] = []
  var requested: Int64
  var received: Int64
  var now: Int64

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func any<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: 0..<values.count, using: &generator)]
    }
    func sometimes(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    received = Sample.now + any([0, 1, 86_399, 40_000_000])
    requested = received - any([0, 0, 0, 0, 3])
    now = received + any([0, 1, 59, 60, 61, 599, 600, 3_600, 90_000, 5_000_000])
    method = any(["GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "PUT"])
    status = any([200, 200, 200, 200, 204, 206, 301, 302, 304, 307, 404, 410, 500, 599, 103])

    let moment = received
    func date(_ offsets: [Int64]) -> String {
      let seconds = moment + any(offsets)
      let form = httpDate(seconds)
      let invalid = [
        "0", "-1", "tomorrow", form.replacing("GMT", with: "UTC"),
        form.replacing("GMT", with: "+0100"), form.replacing("GMT", with: "EST"),
        String(form.dropFirst(5)), "\(seconds)", form + " x", "Wednesday, 01-Jan-70 00:00:00 GMT",
      ]
      if sometimes(10) { return any(invalid) }
      return sometimes(15) ? otherForm(of: form, isShort: sometimes(50)) : form
    }
    func directives() -> [String] {
      let seconds = any(["0", "60", "600", "86400", "\"60\"", "00060", "99999999999"])
      let invalid = any(["-1", "1.5", "+5", "5 6", "x", "", "5s", " 5"])
      let pool: [(Int, String)] = [
        (45, "max-age=\(seconds)"), (5, "max-age=\(invalid)"), (4, "max-age=5"),
        (10, "s-maxage=9"), (8, "no-cache"), (6, "no-cache=\"x-a, x-b\""), (10, "private"),
        (10, "public"), (6, "no-store"), (10, "must-revalidate"), (5, "immutable"),
        (8, "stale-while-revalidate=\(seconds)"), (5, "stale-if-error=9"), (5, "must-understand"),
        (4, "foo=bar"), (2, "foo=\"bar"),
      ]
      return pool.filter { sometimes($0.0) }.map(\.1).shuffled(using: &generator)
    }
    func add(_ percent: Int, _ name: String, _ value: @autoclosure () -> String) -> [[String]] {
      sometimes(percent) ? [[name, value()]] : []
    }

    let tags = ["\"a\"", "\"b\"", "W/\"a\"", "W/\"b\"", "bare"]
    let modified: [Int64] = [-1, -1_000, -86_400, -90_000_000, 60]
    let control = directives()
    if !control.isEmpty {
      let cut = sometimes(20) ? control.count / 2 : 0
      for part in [control[..<cut], control[cut...]] where !part.isEmpty {
        response.append(["Cache-Control", part.joined(separator: sometimes(50) ? ", " : ",")])
      }
    }
    response += add(80, "Date", date([0, 0, 0, -1, -300, 300]))
    response += add(30, "Expires", date([-60, 0, 60, 3_600]))
    response += add(50, "Last-Modified", date(modified))
    response += add(20, "Age", any(["0", "5", "100", "7200", "x", "-1", "7, 9"]))
    response += add(45, "ETag", any(tags))
    if sometimes(2) { response.append(["ETag", "\"second\""]) }
    response += add(25, "Vary", any(["Accept", "accept, X-A", "*", "Accept, *", ""]))
    response += add(10, "Pragma", "no-cache") + add(20, "X-A", "old")
    response += add(10, "Content-Location", "https://a.example/")
    response.shuffle(using: &generator)

    let accept = ["a", "b", "a, b", "a,b", "A"]
    request = add(60, "Accept", any(accept)) + add(5, "Cache-Control", "no-store")
    request += add(10, "Authorization", "Basic eDp5")
    presented = sometimes(60) ? request.filter { $0[0] == "Accept" } : []
    if sometimes(60) { presented = presented.map { [$0[0], $0[1].replacing(",", with: " ,")] } }
    presented += presented.isEmpty ? add(40, "Accept", any(accept)) : []
    let asked = [
      "no-cache", "max-age=0", "max-age=60", "min-fresh=30", "max-stale", "max-stale=30",
    ]
    presented += add(25, "Cache-Control", any(asked)) + add(5, "Pragma", "no-cache")

    notModified = [["Date", httpDate(now)], ["X-B", "new"]]
    notModified += add(50, "ETag", any(tags))
    for line in response where line[0] == "Last-Modified" && sometimes(60) {
      let isIMF = line[1].hasSuffix("GMT") && line[1].utf8.count == 29
      let same = isIMF && sometimes(20) ? otherForm(of: line[1], isShort: false) : line[1]
      notModified.append(["Last-Modified", sometimes(20) ? httpDate(received - 7) : same])
    }
    notModified += add(40, "Cache-Control", any(["max-age=5", "no-cache=\"x-b\""]))
    notModified += add(20, "Content-Type", "a/b") + add(20, "Content-Length", "0")
    notModified += add(20, "Connection", "X-B, close") + add(10, "Age", "3")
    notModified += add(10, "Keep-Alive", "timeout=5") + add(10, "Trailer", "X-C")
  }

  /// Returns a date in the second or third format of RFC 9110 §5.6.7.
  private func otherForm(of date: String, isShort: Bool) -> String {
    let parts = date.split { $0 == " " || $0 == "," }.map(String.init)
    let names = [
      "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday",
      "Sat": "Saturday", "Sun": "Sunday",
    ]
    if isShort {
      let day = names[parts[0]] ?? ""
      return "\(day), \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
    }
    let day = parts[1].hasPrefix("0") ? " \(parts[1].dropFirst())" : parts[1]
    return "\(parts[0]) \(parts[2]) \(day) \(parts[4]) \(parts[3])"
  }
}

extension PeerCase {
  static func fields(_ lines: [[String]]) -> FieldSection {
    FieldSection(lines.map { FieldLine(name: bytes($0[0]), value: bytes($0[1])) })
  }

  private func asked(_ lines: [[String]]) -> Request {
    Request(
      method: bytes(method), targetURI: bytes("https://a.example/"), fields: Self.fields(lines))
  }

  var exchange: Exchange {
    Exchange(
      request: asked(request), status: status, fields: Self.fields(response),
      requestTime: requested, responseTime: received)
  }

  var presentedRequest: Request { asked(presented) }

  var update: NotModified {
    NotModified(fields: Self.fields(notModified), requestTime: now, responseTime: now)
  }
}
