// swift-tools-version: 6.2

import PackageDescription

/// Settings for every Swift target: no target opts out of a check.
let checked: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// Whether this is the build of the tests, which `Tests/run.sh` asks for.
let forTests = Context.environment["BUILD_FOR_TESTS"] != nil

/// The tests spend most of their time in the modules that read and write bytes, which are small, so those are optimized; to optimize
/// all takes minutes. Assertions are checked in all of them.
let optimized: [SwiftSetting] = forTests ? [.unsafeFlags(["-assert-config", "Debug"])] : []
let unoptimized: [SwiftSetting] =
  forTests
  ? [
    .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental"])
  ]
  : []

/// A module, which depends only on those above it; `ArchitectureTests` checks its imports. `hot` says that the tests spend much of their
/// time in it.
func module(
  _ name: String, on dependencies: Target.Dependency..., settings: [SwiftSetting] = [],
  linked: [LinkerSetting] = [], hot: Bool = false
) -> Target {
  .target(
    name: name, dependencies: dependencies,
    swiftSettings: checked + settings + (hot ? optimized : unoptimized), linkerSettings: linked)
}

/// The tests of `module`; their golden files are read from the source tree, not bundled.
func tests(
  of module: String, on dependencies: Target.Dependency..., exclude: [String] = []
) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: [.target(name: module)] + dependencies,
    exclude: exclude, swiftSettings: checked + unoptimized)
}

/// The packages that are used, each in exactly the version that was tested. With `DEPENDENCIES`, the folder that
/// `build-source.sh` fills with their sources, the build needs no network.
func dependency(_ name: String, of owner: String, exact version: Version) -> Package.Dependency {
  if let folder = Context.environment["DEPENDENCIES"] {
    return .package(path: "\(folder)/\(name)")
  }
  return .package(url: "https://github.com/\(owner)/\(name)", exact: version)
}

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser")
/// CryptoKit has the hash functions on macOS.
let nettle = Target.Dependency.target(name: "CNettle", condition: .when(platforms: [.linux]))

// macOS has SQLite in its SDK, so that no other one of pkg-config is used. Elsewhere, libarchive is loaded when it is needed, and is not linked; its
// headers are where the compiler looks.
#if os(macOS)
  let (sqlite, libarchive): (String?, String?) = (nil, "libarchive")
#else
  let (sqlite, libarchive): (String?, String?) = ("sqlite3", nil)
#endif

let package = Package(
  name: "urlcache-admin",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "urlcache-admin", targets: ["urlcache-admin"]),
    .executable(name: "urlcache-admin-fetch", targets: ["urlcache-admin-fetch"]),
  ],
  dependencies: [
    dependency("swift-argument-parser", of: "apple", exact: "1.8.2")
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: sqlite, providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CArchive", pkgConfig: libarchive, providers: [.apt(["libarchive-dev"])]),
    .systemLibrary(
      name: "CDeflate", pkgConfig: "libdeflate",
      providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),
    .systemLibrary(name: "CFiles"),
    .systemLibrary(name: "CVersion"),
    .systemLibrary(
      name: "CPCRE2", pkgConfig: "libpcre2-8",
      providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]),
    .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
    module("Bytes", hot: true),
    module("Files", on: "Bytes", "CFiles", nettle, hot: true),
    module("Matching", on: "Bytes", "CPCRE2", hot: true),
    module("HTTPCaching", on: "Bytes", hot: true),
    module("Fetching", on: "HTTPCaching"),
    module("Secrets", on: "Bytes", "Files", hot: true),
    // A view over a `Span` stores it, which needs this feature.
    module(
      "PropertyLists", on: "Bytes", settings: [.enableExperimentalFeature("Lifetimes")],
      hot: true),
    module("SQLite", on: "Bytes", "CSQLite", "Files", hot: true),
    module("SQLitePages", hot: true),
    module(
      "Archive", on: "CArchive", "CDeflate",
      linked: [.linkedLibrary("archive", .when(platforms: [.macOS]))], hot: true),
    module(
      "ResponseStorage", on: "Bytes", "Files", "HTTPCaching", "PropertyLists", "Secrets", "SQLite",
      "SQLitePages"),
    module(
      "SampleCaches", on: "Bytes", "Files", "PropertyLists", "ResponseStorage", hot: true),
    module("JSON", on: "Bytes", "Files", hot: true),
    module("Progress", on: "Files", "JSON"),
    module(
      "ResponseArchives", on: "Archive", "Bytes", "Files", "HTTPCaching", "JSON", "ResponseStorage",
      "SQLite"),
    module(
      "Administration", on: "Bytes", "Files", "HTTPCaching", "JSON", "Matching",
      "ResponseArchives", "ResponseStorage", "Secrets", "SQLite"),
    module(
      "Revalidation", on: "Administration", "Bytes", "Fetching", "Files", "HTTPCaching",
      "ResponseStorage", "Secrets", "SQLite"),
    module("Watching", on: "Administration", "Bytes", "Files", "ResponseStorage", "SQLite"),
    module(
      "Auditing", on: "Administration", "Bytes", "Files", "HTTPCaching", "JSON", "ResponseArchives",
      "ResponseStorage", "Secrets", "SQLitePages", hot: true),
    module(
      "Rendering", on: "Administration", "Auditing", "Bytes", "Fetching", "HTTPCaching", "JSON",
      "Matching", "ResponseArchives", "ResponseStorage", "Revalidation", "Secrets", "Watching"),
    module(
      "Querying", on: "Administration", "Bytes", "Files", "HTTPCaching", "Rendering",
      "ResponseStorage", "SQLite"),
    module(
      "AdminCommands", on: "Administration", "Auditing", "Bytes", "Fetching", "Files",
      "HTTPCaching", "JSON",
      "Matching", "Progress", "Querying", "Rendering", "ResponseArchives", "ResponseStorage",
      "Revalidation", "SampleCaches", "Watching", "CVersion", argumentParser),
    .executableTarget(
      name: "urlcache-admin", dependencies: ["AdminCommands"], swiftSettings: checked + unoptimized),
    .executableTarget(
      name: "urlcache-admin-fetch", dependencies: ["Fetching", "Files", "HTTPCaching"],
      swiftSettings: checked + unoptimized),

    .target(
      name: "TestSupport",
      dependencies: [
        "AdminCommands", "Administration", "Bytes", "HTTPCaching", "JSON", "ResponseStorage",
        "Revalidation",
      ],
      path: "Tests/TestSupport", swiftSettings: checked + unoptimized),
    tests(of: "Bytes"),
    tests(of: "Files", on: "Bytes"),
    tests(of: "PropertyLists", exclude: ["plistlib_oracle.py"]),
    tests(of: "Archive"),
    tests(of: "SQLite", on: "Bytes", "Files", "TestSupport"),
    tests(of: "SQLitePages", exclude: ["make_databases.py"]),
    tests(of: "Matching", on: "Bytes"),
    tests(of: "HTTPCaching"),
    tests(of: "Fetching", on: "HTTPCaching"),
    tests(of: "JSON", on: "Bytes"),
    tests(of: "Progress"),
    tests(
      of: "ResponseArchives", on: "Archive", "Bytes", "Files", "HTTPCaching", "JSON",
      "ResponseStorage", "TestSupport"),
    tests(
      of: "Administration", on: "Bytes", "Files", "HTTPCaching", "Matching", "ResponseStorage",
      "SQLite", "TestSupport"),
    tests(of: "Auditing", on: "Bytes", "ResponseStorage", "Secrets"),
    tests(of: "Secrets", on: "Bytes"),
    tests(of: "Querying", on: "SQLite"),
    tests(of: "Watching", on: "Administration", "Bytes", "ResponseStorage", "TestSupport"),
    tests(of: "Revalidation", on: "Bytes", "Fetching", "HTTPCaching", "ResponseStorage"),
    tests(
      of: "Rendering", on: "Administration", "Bytes", "JSON", "Matching", "ResponseStorage",
      "TestSupport"),
    tests(
      of: "AdminCommands", on: "Bytes", "Fetching", "HTTPCaching", "ResponseStorage",
      "Revalidation", "TestSupport", argumentParser,
      exclude: ["Golden"]),
    .testTarget(name: "ArchitectureTests", swiftSettings: checked + unoptimized),
    tests(
      of: "ResponseStorage", on: "Bytes", "Files", "HTTPCaching", "PropertyLists", "Secrets",
      "SQLite",
      "TestSupport"),
    .testTarget(
      name: "ExecutableTests",
      dependencies: [
        "AdminCommands", "Fetching", "urlcache-admin", "urlcache-admin-fetch",
        argumentParser,
      ],
      exclude: ["Golden"], swiftSettings: checked + unoptimized),
  ]
)
