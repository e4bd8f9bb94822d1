# A formula for Homebrew. It has never been run, because there was no Mac to run it on. Sources/README.md says how to
# use it from a tap. For a release, 'url' and 'sha256' have to be those of the tarball of its source.
class UrlcacheAdmin < Formula
  desc "Inspect, clean up and repair the on-disk caches of URLCache and WebKit"
  homepage "https://urlcache-admin.invalid/"
  url "https://urlcache-admin.invalid/urlcache-admin-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "pkgconf" => :build
  depends_on xcode: ["26.4", :build]
  depends_on "libarchive"
  depends_on "libdeflate"
  depends_on macos: :tahoe
  depends_on "pcre2"

  uses_from_macos "sqlite"

  def install
    # It is not linked to the prefix, because the system has one, which has no headers.
    ENV.prepend_path "PKG_CONFIG_PATH", Formula["libarchive"].opt_lib/"pkgconfig"
    # The tarball contains the dependencies.
    ENV["DEPENDENCIES"] = (buildpath/"Dependencies").to_s
    %w[urlcache-admin urlcache-admin-fetch].each do |product|
      system "swift", "build", "--disable-sandbox", "--disable-automatic-resolution", "--configuration", "release",
             "--product", product
    end
    bin.install ".build/release/urlcache-admin"
    (libexec/"urlcache-admin").install ".build/release/urlcache-admin-fetch"
    man1.install Dir["share/man/man1/*.1"]
    man5.install Dir["share/man/man5/*.5"]
    bash_completion.install "share/bash-completion/completions/urlcache-admin"
    zsh_completion.install "share/zsh/site-functions/_urlcache-admin"
    fish_completion.install "share/fish/vendor_completions.d/urlcache-admin.fish"
    pkgshare.install "share/urlcache-admin/schema"
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
    (testpath/"one.har").write <<~JSON
      {"log": {"version": "1.2", "creator": {"name": "brew", "version": "1"}, "entries": [
        {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "cache": {},
         "timings": {"send": 0, "wait": 1, "receive": 0},
         "request": {"method": "GET", "url": "https://a.example/", "httpVersion": "HTTP/1.1", "cookies": [],
           "headers": [], "queryString": [], "headersSize": -1, "bodySize": 0},
         "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [],
           "redirectURL": "", "headers": [{"name": "Content-Type", "value": "text/plain"}], "headersSize": -1,
           "bodySize": 5, "content": {"size": 5, "mimeType": "text/plain", "text": "hello"}}}]}}
    JSON
    tool = bin/"urlcache-admin"
    assert_match "urlcache-admin #{version}", shell_output("#{tool} --version")
    assert_match "1 entry", shell_output("#{tool} import one.har -c cache --create apple 2>&1")
    assert_match "hello", shell_output("#{tool} body -c cache https://a.example/")
    assert_match "1", shell_output("#{tool} list -c cache --count")
    assert_match "no cache 'none'", shell_output("#{tool} list -c none 2>&1", 66)
  end
end
