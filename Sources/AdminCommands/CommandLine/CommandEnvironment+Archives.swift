import Administration
import Bytes
import Rendering
import ResponseArchives
import ResponseStorage

extension CommandEnvironment {
  /// The number of damaged records that notes name; `check` lists more.
  private static let mostNamed = 5

  /// Notes what an archive lacks, as far as it is known before its entries are read.
  func note(lacksOf archive: any ResponseArchive) {
    let damaged = archive.damagedRecords
    for record in damaged.prefix(Self.mostNamed) {
      let url = record.url.map { " ('\(EntryNames.text(SecretPolicy().url($0, for: .people)))')" }
      note("\(record.description), and is left out\(url ?? "")")
    }
    if damaged.count > Self.mostNamed {
      note(
        "more records do not match their digests; list them with: "
          + OptionHints.commandLine(["check", archive.description.path]))
    }
    if archive.redirectsWithoutBody > 0 {
      note("redirects that were recorded without their bodies: \(archive.redirectsWithoutBody)")
    }
  }
}
