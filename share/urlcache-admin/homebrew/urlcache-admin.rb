# A formula for Homebrew. It is untested: neither Homebrew nor a Mac was at hand. Before it is used, 'url'
# and 'sha256' have to be those of a release.
class UrlcacheAdmin < Formula
  desc "Administer the response cache that URLCache keeps on disk"
  homepage "https://urlcache-admin.invalid/"
  url "https://urlcache-admin.invalid/urlcache-admin-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on xcode: ["26.4", :build]
  depends_on "libarchive"
  depends_on "libdeflate"
  depends_on "pcre2"
  depends_on macos: :tahoe

  uses_from_macos "sqlite"

  def install
    ENV.prepend_path "PKG_CONFIG_PATH", Formula["libarchive"].opt_lib/"pkgconfig"
    %w[urlcache-admin urlcache-admin-fetch].each do |product|
      system "swift", "build", "--disable-sandbox", "-c", "release", "--product", product
    end
    bin.install ".build/release/urlcache-admin"
    (libexec/"urlcache-admin").install ".build/release/urlcache-admin-fetch"
    man.install Dir["share/man/*"] if Dir.exist?("share/man")
    if Dir.exist?("share/bash-completion")
      bash_completion.install Dir["share/bash-completion/completions/*"]
      zsh_completion.install Dir["share/zsh/site-functions/*"]
      fish_completion.install Dir["share/fish/vendor_completions.d/*"]
    end
    pkgshare.install "share/urlcache-admin/schema", "share/urlcache-admin/launchd"
    doc.install Dir["share/doc/urlcache-admin/*"]
  end

  service do
    run [opt_bin/"urlcache-admin", "enforce", "--all-caches", "--yes", "--splay", "2h",
         "--if-busy", "skip", "--max-runtime", "10min"]
    run_type :cron
    cron "0 3 * * *"
    process_type :background
    log_path var/"log/urlcache-admin.log"
    error_log_path var/"log/urlcache-admin.log"
  end

  test do
    assert_match "urlcache-admin #{version}", shell_output("#{bin}/urlcache-admin --version")
    assert_match "there is no cache", shell_output("#{bin}/urlcache-admin list -c none 2>&1", 66)
  end
end
