import ResponseStorage
import Testing

struct FoundStoreTests {
  @Test(
    arguments: [
      ("/Users/a/Library/Caches/com.example.shop/Cache.db", "com.example.shop"),
      ("/Users/a/Library/Caches/ksfetch/Cache.db", "ksfetch"),
      ("/Users/a/Library/Caches/com.example.shop/images/Cache.db", nil),
      ("/Users/a/Library/Caches/com.example.shop/Other.db", nil),
      ("/Users/a/Library/Caches/Cache.db", nil), ("/Caches/x/Cache.db", "x"), ("Cache.db", nil),
      ("/Users/a/Library/Containers/com.a/Data/Library/Caches/com.a/Cache.db", "com.a"),
      ("/Users/a/Library/Containers/com.a/Data/Library/Caches/com.b/Cache.db", nil),
      ("/d/Containers/Data/Application/1-2/Library/Caches/com.a/Cache.db", "com.a"), ("", nil),
    ] as [(String, String?)])
  func `a cache is recognised as the default cache of an app`(path: String, app: String?) {
    #expect(FoundStore(path: path, format: .apple).defaultOf == app)
  }

  @Test(
    arguments: [
      ("/home/a/.cache/org.swift.foundation.URLCache/feed", "feed"),
      ("/home/a/.cache/org.swift.foundation.URLCache", nil), ("/srv/cache/feed", nil),
      ("/home/a/Library/Caches/feed", nil),
    ] as [(String, String?)])
  func `a Foundation cache folder belongs to a program`(path: String, program: String?) {
    #expect(FoundStore(path: path, format: .foundation).defaultOf == program)
  }
}
