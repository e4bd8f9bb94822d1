// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import CArchive
internal import CDeflate

// macOS links libarchive, which has no cost there.
#if !canImport(Darwin)
  internal import Glibc

  /// libarchive, which is loaded when the first archive or coded body is opened.
  ///
  /// With it come libxml2 and the 30 MB of ICU's data. If it were linked, that would take 2 ms of every start, which is
  /// more than all that SQLite needs, and most commands never touch an archive.
  enum LibArchive {
    /// The version of the binary interface that the header describes.
    private static let name = "libarchive.so.13"

    private nonisolated(unsafe) static let handle = unsafe dlopen(name, RTLD_NOW)

    /// Why the library could not be loaded.
    private static let failure: String? =
      if unsafe handle != nil { nil } else {
        unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason is given"
      }

    /// Loads the library; afterwards all functions can be called.
    static func load() throws(ArchiveError) {
      if let failure { throw ArchiveError("cannot load the library: \(failure)") }
    }

    /// - Precondition: The library is loaded, and is version 3.3.3 or later, the first that writes zstd.
    fileprivate static func function<Function>(_ name: String, as type: Function.Type) -> Function {
      guard let address = unsafe dlsym(handle, name) else {
        // A linked library that is too old would end the program too, at its start.
        preconditionFailure("\(Self.name) has no \(name)")
      }
      return unsafe unsafeBitCast(address, to: type)
    }
  }

  nonisolated(unsafe) let archive_entry_filetype = unsafe LibArchive.function(
    "archive_entry_filetype", as: archive_entry_filetype_f.self)
  nonisolated(unsafe) let archive_entry_free = unsafe LibArchive.function(
    "archive_entry_free", as: archive_entry_free_f.self)
  nonisolated(unsafe) let archive_entry_hardlink = unsafe LibArchive.function(
    "archive_entry_hardlink", as: archive_entry_hardlink_f.self)
  nonisolated(unsafe) let archive_entry_is_encrypted = unsafe LibArchive.function(
    "archive_entry_is_encrypted", as: archive_entry_is_encrypted_f.self)
  nonisolated(unsafe) let archive_entry_new = unsafe LibArchive.function(
    "archive_entry_new", as: archive_entry_new_f.self)
  nonisolated(unsafe) let archive_entry_pathname = unsafe LibArchive.function(
    "archive_entry_pathname", as: archive_entry_pathname_f.self)
  nonisolated(unsafe) let archive_entry_set_filetype = unsafe LibArchive.function(
    "archive_entry_set_filetype", as: archive_entry_set_filetype_f.self)
  nonisolated(unsafe) let archive_entry_set_mtime = unsafe LibArchive.function(
    "archive_entry_set_mtime", as: archive_entry_set_mtime_f.self)
  nonisolated(unsafe) let archive_entry_set_pathname = unsafe LibArchive.function(
    "archive_entry_set_pathname", as: archive_entry_set_pathname_f.self)
  nonisolated(unsafe) let archive_entry_set_perm = unsafe LibArchive.function(
    "archive_entry_set_perm", as: archive_entry_set_perm_f.self)
  nonisolated(unsafe) let archive_entry_set_size = unsafe LibArchive.function(
    "archive_entry_set_size", as: archive_entry_set_size_f.self)
  nonisolated(unsafe) let archive_entry_size = unsafe LibArchive.function(
    "archive_entry_size", as: archive_entry_size_f.self)
  nonisolated(unsafe) let archive_entry_size_is_set = unsafe LibArchive.function(
    "archive_entry_size_is_set", as: archive_entry_size_is_set_f.self)
  nonisolated(unsafe) let archive_entry_sparse_count = unsafe LibArchive.function(
    "archive_entry_sparse_count", as: archive_entry_sparse_count_f.self)
  nonisolated(unsafe) let archive_entry_symlink = unsafe LibArchive.function(
    "archive_entry_symlink", as: archive_entry_symlink_f.self)
  nonisolated(unsafe) let archive_error_string = unsafe LibArchive.function(
    "archive_error_string", as: archive_error_string_f.self)
  nonisolated(unsafe) let archive_filter_bytes = unsafe LibArchive.function(
    "archive_filter_bytes", as: archive_filter_bytes_f.self)
  nonisolated(unsafe) let archive_read_append_filter = unsafe LibArchive.function(
    "archive_read_append_filter", as: archive_read_append_filter_f.self)
  nonisolated(unsafe) let archive_read_data = unsafe LibArchive.function(
    "archive_read_data", as: archive_read_data_f.self)
  nonisolated(unsafe) let archive_read_free = unsafe LibArchive.function(
    "archive_read_free", as: archive_read_free_f.self)
  nonisolated(unsafe) let archive_read_new = unsafe LibArchive.function(
    "archive_read_new", as: archive_read_new_f.self)
  nonisolated(unsafe) let archive_read_next_header = unsafe LibArchive.function(
    "archive_read_next_header", as: archive_read_next_header_f.self)
  nonisolated(unsafe) let archive_read_open1 = unsafe LibArchive.function(
    "archive_read_open1", as: archive_read_open1_f.self)
  nonisolated(unsafe) let archive_read_open2 = unsafe LibArchive.function(
    "archive_read_open2", as: archive_read_open2_f.self)
  nonisolated(unsafe) let archive_read_set_callback_data = unsafe LibArchive.function(
    "archive_read_set_callback_data", as: archive_read_set_callback_data_f.self)
  nonisolated(unsafe) let archive_read_set_read_callback = unsafe LibArchive.function(
    "archive_read_set_read_callback", as: archive_read_set_read_callback_f.self)
  nonisolated(unsafe) let archive_read_set_seek_callback = unsafe LibArchive.function(
    "archive_read_set_seek_callback", as: archive_read_set_seek_callback_f.self)
  nonisolated(unsafe) let archive_read_support_format_empty = unsafe LibArchive.function(
    "archive_read_support_format_empty", as: archive_read_support_format_empty_f.self)
  nonisolated(unsafe) let archive_read_support_format_raw = unsafe LibArchive.function(
    "archive_read_support_format_raw", as: archive_read_support_format_raw_f.self)
  nonisolated(unsafe) let archive_read_support_format_tar = unsafe LibArchive.function(
    "archive_read_support_format_tar", as: archive_read_support_format_tar_f.self)
  nonisolated(unsafe) let archive_read_support_format_zip_seekable = unsafe LibArchive.function(
    "archive_read_support_format_zip_seekable",
    as: archive_read_support_format_zip_seekable_f.self)
  nonisolated(unsafe) private let archive_version_string = unsafe LibArchive.function(
    "archive_version_string", as: archive_version_string_f.self)
  nonisolated(unsafe) let archive_write_add_filter_gzip = unsafe LibArchive.function(
    "archive_write_add_filter_gzip", as: archive_write_add_filter_gzip_f.self)
  nonisolated(unsafe) let archive_write_add_filter_none = unsafe LibArchive.function(
    "archive_write_add_filter_none", as: archive_write_add_filter_none_f.self)
  nonisolated(unsafe) let archive_write_add_filter_zstd = unsafe LibArchive.function(
    "archive_write_add_filter_zstd", as: archive_write_add_filter_zstd_f.self)
  nonisolated(unsafe) let archive_write_close = unsafe LibArchive.function(
    "archive_write_close", as: archive_write_close_f.self)
  nonisolated(unsafe) let archive_write_data = unsafe LibArchive.function(
    "archive_write_data", as: archive_write_data_f.self)
  nonisolated(unsafe) let archive_write_free = unsafe LibArchive.function(
    "archive_write_free", as: archive_write_free_f.self)
  nonisolated(unsafe) let archive_write_header = unsafe LibArchive.function(
    "archive_write_header", as: archive_write_header_f.self)
  nonisolated(unsafe) let archive_write_new = unsafe LibArchive.function(
    "archive_write_new", as: archive_write_new_f.self)
  nonisolated(unsafe) let archive_write_open2 = unsafe LibArchive.function(
    "archive_write_open2", as: archive_write_open2_f.self)
  nonisolated(unsafe) let archive_write_set_bytes_in_last_block = unsafe LibArchive.function(
    "archive_write_set_bytes_in_last_block", as: archive_write_set_bytes_in_last_block_f.self)
  nonisolated(unsafe) let archive_write_set_bytes_per_block = unsafe LibArchive.function(
    "archive_write_set_bytes_per_block", as: archive_write_set_bytes_per_block_f.self)
  nonisolated(unsafe) let archive_write_set_filter_option = unsafe LibArchive.function(
    "archive_write_set_filter_option", as: archive_write_set_filter_option_f.self)
  nonisolated(unsafe) let archive_write_set_format_raw = unsafe LibArchive.function(
    "archive_write_set_format_raw", as: archive_write_set_format_raw_f.self)
  nonisolated(unsafe) let archive_write_set_format_ustar = unsafe LibArchive.function(
    "archive_write_set_format_ustar", as: archive_write_set_format_ustar_f.self)
  nonisolated(unsafe) private let archive_set_error = unsafe LibArchive.function(
    "archive_set_error", as: UnsafeMutableRawPointer.self)

  /// Says why a callback failed.
  func carchive_set_error(_ archive: OpaquePointer?, _ reason: String) {
    unsafe carchive_set_error(archive_set_error, archive, reason)
  }
#else
  /// libarchive, which is linked.
  enum LibArchive {
    static func load() throws(ArchiveError) {}
  }
#endif

/// The library that reads and writes containers.
public enum ArchiveLibrary {
  /// The name and version of the library, for example `libarchive 3.6.2`; `nil` if it cannot be loaded.
  public static var version: String? {
    guard (try? LibArchive.load()) != nil else { return nil }
    return unsafe archive_version_string().map { unsafe String(cString: $0) }
  }

  /// The version of libdeflate.
  public static var deflateVersion: String { LIBDEFLATE_VERSION_STRING }
}
