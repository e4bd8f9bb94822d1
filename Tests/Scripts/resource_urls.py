"""Makes up URLs as sites and content networks write them, each with the resource that it stands for.

    resource_urls.py SEED [COUNT]

Prints a line for each URL: the style, a tab, the number of the resource, a tab, and the URL. URLs with one number are
versions of one resource, the oldest first; all others are resources of their own, however alike they look.
"""

import base64, random, string, sys

HEX = "0123456789abcdef"
BASE62 = string.ascii_letters + string.digits
BASE64URL = BASE62 + "-_"
BASE32 = string.ascii_uppercase + "234567"

SCRIPTS = ["app", "main", "index", "vendor", "runtime", "polyfills", "common", "framework", "webpack", "commons", "entry",
           "login", "dashboard", "settings", "checkout", "search", "player", "editor", "home", "profile-page", "admin",
           "map-view", "video-player", "date_picker", "datatables", "sidebar", "analytics", "worker", "HomePage", "UserMenu",
           "pages/_app", "pages/blog/[slug]", "vendors~main", "components/Button"]
STYLES = ["app", "main", "style", "styles", "theme", "site", "screen", "print", "vendor", "normalize", "icons", "fonts",
          "dark-theme", "admin", "mobile", "bootstrap-theme"]
PICTURES = ["logo", "background", "hero", "sprite", "favicon", "banner-home", "arrow-left", "icon-search", "spinner", "flag-de",
            "login-bg", "app-store-badge", "placeholder", "empty-state", "map-pin", "footer-wave", "illustration-404"]
FONTS = ["roboto", "open-sans-bold", "fontawesome-webfont", "Inter-Regular", "icons", "lato-latin-400", "material-icons"]
PEOPLE = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "olivia", "peggy"]
THINGS = ["beach", "mountain", "sunset", "summer-dress", "red-shoes", "coffee-table", "oak-chair", "city-night", "forest",
          "wedding", "blue-jacket", "running-shoe", "office-lamp", "green-sofa", "lake", "bridge"]
LIBRARIES = ["jquery", "bootstrap", "vue", "react", "react-dom", "lodash", "moment", "d3", "chart", "angular", "leaflet",
             "three", "axios", "swiper", "highlight", "ember", "backbone", "jquery-ui", "font-awesome", "video-js", "popper"]
HOSTS = ["www.example.com", "static.example.com", "cdn.example.net", "assets.example.org", "app.example.com", "img.example.cn",
         "m.example.com", "example.io", "files.example.com", "s3.eu-west-1.example.com"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.serial = 0

    def pick(self, values):
        return self.random.choice(values)

    def text(self, alphabet, length):
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def hex(self, length):
        return self.text(HEX, length)

    def number(self, low, high):
        return self.random.randint(low, high)

    def chance(self, share):
        return self.random.random() < share

    def host(self):
        self.serial += 1
        return f"https://{self.pick(HOSTS)}/{self.pick(['', '', 'a/', 'site/', f'p{self.serial}/'])}x{self.serial}/"

    def numbers(self, count, low, high, step):
        """Ascending numbers, as of builds."""
        result = [self.number(low, high)]
        while len(result) < count: result.append(result[-1] + self.number(1, step))
        return result

    def days(self, count):
        day = self.number(0, 2500)
        result = []
        for _ in range(count):
            result.append((2018 + day // 360, day // 30 % 12 + 1, day % 30 % 28 + 1))
            day += self.number(1, 90)
        return result

    def semvers(self, count):
        major, minor, patch = self.number(0, 5), self.number(0, 14), self.number(0, 9)
        result = []
        for _ in range(count):
            result.append(f"{major}.{minor}.{patch}")
            match self.number(0, 5):
                case 0: major, minor, patch = major + 1, 0, 0
                case 1 | 2: minor, patch = minor + 1, 0
                case _: patch += 1
        return result

    def minified(self):
        return ".min" if self.chance(0.4) else ""


# What is versioned: each takes a maker and a number of versions, and returns that many URLs.

def webpack(m, n):
    start, kind = m.host(), m.pick(["js", "js", "css"])
    name = m.pick(SCRIPTS if kind == "js" else STYLES)
    length = m.pick([8, 8, 20, 20, 16, 32])
    tail = m.pick(["", "", ".chunk", ".bundle", ".min"])
    return [f"{start}static/{kind}/{name}.{m.hex(length)}{tail}.{kind}" for _ in range(n)]


def webpack_numbered(m, n):
    start, chunk = m.host(), m.number(0, 999)
    length, tail = m.pick([8, 16, 20]), m.pick(["", ".chunk"])
    return [f"{start}static/js/{chunk}.{m.hex(length)}{tail}.js" for _ in range(n)]


def webpack_map(m, n):
    start, name = m.host(), m.pick(["app", "main", "vendor"])
    return [f"{start}js/{name}.{m.hex(8)}.js.map" for _ in range(n)]


def webpack_media(m, n):
    start, name, kind = m.host(), m.pick(PICTURES), m.pick(["png", "svg", "jpg", "webp", "gif"])
    length = m.pick([8, 8, 20, 32])
    return [f"{start}static/media/{name}.{m.hex(length)}.{kind}" for _ in range(n)]


def webpack_font(m, n):
    start, name, kind = m.host(), m.pick(FONTS), m.pick(["woff2", "woff", "ttf", "eot"])
    return [f"{start}fonts/{name}.{m.hex(m.pick([8, 20, 32]))}.{kind}" for _ in range(n)]


def short_hash(m, n):
    start, name, tail = m.host(), m.pick(["app", "main", "site", "bundle-core"]), m.minified() + m.pick([".js", ".css"])
    return [f"{start}dist/{name}.{m.hex(7)}{tail}" for _ in range(n)]


def vite(m, n):
    start, kind = m.host(), m.pick(["js", "js", "js", "css"])
    name = m.pick(SCRIPTS if kind == "js" else STYLES)
    return [f"{start}assets/{name}-{m.text(BASE64URL, 8)}.{kind}" for _ in range(n)]


def vite_media(m, n):
    start, name, kind = m.host(), m.pick(PICTURES), m.pick(["svg", "png", "webp"])
    return [f"{start}assets/{name}-{m.text(BASE64URL, 8)}.{kind}" for _ in range(n)]


def vite_old(m, n):
    start, name, kind = m.host(), m.pick(SCRIPTS), m.pick(["js", "css"])
    return [f"{start}assets/{name}.{m.hex(8)}.{kind}" for _ in range(n)]


def nuxt(m, n):
    start, name = m.host(), m.pick(["entry", "default", "error-404", "index"])
    return [f"{start}_nuxt/{name}.{m.text(BASE64URL, 8)}.js" for _ in range(n)]


def svelte(m, n):
    start, name = m.host(), m.pick(["entry/start", "entry/app", "nodes/0", "nodes/12"])
    return [f"{start}_app/immutable/{name}.{m.text(BASE64URL, 8)}.js" for _ in range(n)]


def next_js(m, n):
    start, name = m.host(), m.pick(["main", "framework", "webpack", "polyfills", "pages/_app", "pages/index", "pages/[id]", "main-app"])
    return [f"{start}_next/static/chunks/{name}-{m.hex(16)}.js" for _ in range(n)]


def angular(m, n):
    start, name = m.host(), m.pick(["main", "polyfills", "runtime", "styles", "scripts"])
    if m.chance(0.5): return [f"{start}{name}.{m.hex(m.pick([16, 20]))}.js" for _ in range(n)]
    return [f"{start}{name}-{m.text(BASE32, 8)}.{'css' if name == 'styles' else 'js'}" for _ in range(n)]


def gatsby(m, n):
    start = m.host()
    name = m.pick(["app", "webpack-runtime", "component---src-pages-index-js", "component---src-templates-post-tsx", "polyfill"])
    return [f"{start}{name}-{m.hex(20)}.js" for _ in range(n)]


def ember(m, n):
    start, name = m.host(), m.pick(["vendor", "my-app", "chunk.app"])
    return [f"{start}assets/{name}-{m.hex(32)}.{kind}" for kind in [m.pick(["js", "css"])] * n]


def rails(m, n):
    start, length = m.host(), m.pick([64, 64, 32])
    kind = m.pick(["js", "css", "png", "svg", "woff2"])
    name = m.pick({"js": SCRIPTS, "css": STYLES, "woff2": FONTS}.get(kind, PICTURES))
    name = "application" if kind in ("js", "css") and m.chance(0.5) else name
    return [f"{start}assets/{name}-{m.hex(length)}.{kind}" for _ in range(n)]


def django(m, n):
    start, kind = m.host(), m.pick(["js", "css", "png", "svg"])
    name = m.pick({"js": SCRIPTS, "css": STYLES}.get(kind, PICTURES))
    return [f"{start}static/{kind}/{name}.{m.hex(12)}.{kind}" for _ in range(n)]


def gulp_rev(m, n):
    start, kind = m.host(), m.pick(["js", "css", "png"])
    name = m.pick({"js": SCRIPTS, "css": STYLES}.get(kind, PICTURES))
    return [f"{start}build/{name}-{m.hex(10)}.{kind}" for _ in range(n)]


def phoenix(m, n):
    start, kind = m.host(), m.pick(["js", "css"])
    return [f"{start}assets/app-{m.hex(32)}.{kind}?vsn=d" for _ in range(n)]


def laravel_mix(m, n):
    start, kind = m.host(), m.pick(["js", "css"])
    return [f"{start}{kind}/app.{kind}?id={m.hex(m.pick([20, 32]))}" for _ in range(n)]


def hugo(m, n):
    start, name = m.host(), m.pick(STYLES)
    return [f"{start}css/{name}.min.{m.hex(64)}.css" for _ in range(n)]


def retina_hash(m, n):
    start, name, scale = m.host(), m.pick(PICTURES), m.pick(["@2x", "@3x"])
    if m.chance(0.5): return [f"{start}img/{name}{scale}-{m.hex(8)}.png" for _ in range(n)]
    return [f"{start}img/{name}.{m.hex(12)}{scale}.png" for _ in range(n)]


def sized_hash(m, n):
    start, name, size = m.host(), m.pick(PICTURES), m.pick(["64x64", "300x200", "16x16"])
    return [f"{start}assets/{name}-{size}-{m.hex(32)}.png" for _ in range(n)]


def query_version(m, n):
    start, kind = m.host(), m.pick(["js", "css", "png", "svg", "woff2", "json", "jpg", "wasm", "mjs"])
    folder = m.pick(["js", "css", "img", "static", "res"])
    name = m.pick({"js": SCRIPTS, "css": STYLES, "woff2": FONTS, "json": ["en", "config", "cities", "manifest"]}.get(kind, PICTURES))
    key = m.pick(["v", "v", "v", "ver", "version", "rev", "_v", "build"])
    match m.number(0, 4):
        case 0: marks = m.numbers(n, 1, 80, 3)
        case 1: marks = m.semvers(n)
        case 2: marks = [m.hex(m.pick([8, 10, 32])) for _ in range(n)]
        case 3: marks = m.numbers(n, 1500000000, 1750000000, 10000000)
        case _: marks = [f"{y}{mo:02}{d:02}" for y, mo, d in m.days(n)]
    return [f"{start}{folder}/{name}.{kind}?{key}={mark}" for mark in marks]


def wordpress(m, n):
    start, plugin = m.host(), m.pick(["contact-form-7", "woocommerce", "elementor", "akismet"])
    kind = m.pick(["js", "css"])
    return [f"{start}wp-content/plugins/{plugin}/assets/{plugin}.{kind}?ver={mark}" for mark in m.semvers(n)]


def drupal(m, n):
    start = m.host()
    return [f"{start}core/misc/{name}.js?{m.pick('rst')}{m.text(string.ascii_lowercase + string.digits, 3)}{m.number(0, 9)}{m.pick('abcxyz')}"
            for name in [m.pick(["drupal", "ajax", "tabledrag"])] * n]


def query_hash(m, n):
    start, key = m.host(), m.pick(["hash", "hash", "md5", "digest", "etag", "checksum"])
    name, kind = m.pick(PICTURES), m.pick(["png", "jpg", "svg", "webp"])
    return [f"{start}i/{name}.{kind}?{key}={m.hex(m.pick([8, 32, 40]))}" for _ in range(n)]


def query_time(m, n):
    start, key = m.host(), m.pick(["t", "ts", "_", "timestamp", "_t", "cb", "_dc", "mtime", "updated"])
    kind = m.pick(["json", "json", "png", "jpg", "js", "css"])
    name = m.pick(["config", "feature-flags", "status", "avatar", "cover", "app"])
    times = m.numbers(n, 1600000000, 1750000000, 1000000)
    if m.chance(0.5): times = [time * 1000 + m.number(0, 999) for time in times]
    return [f"{start}{name}.{kind}?{key}={time}" for time in times]


def query_random(m, n):
    start, key = m.host(), m.pick(["r", "rnd", "random", "nocache", "cachebust", "cachebuster"])
    return [f"{start}data/live.json?{key}=0.{m.number(10 ** 15, 10 ** 16 - 1)}" for _ in range(n)]


def query_bare(m, n):
    start, name = m.host(), m.pick(STYLES)
    kind = m.pick(["css", "js"])
    if m.chance(0.5): return [f"{start}{name}.{kind}?{mark}" for mark in m.numbers(n, 1500000000, 1750000000, 10000000)]
    return [f"{start}{name}.{kind}?{m.hex(32)}" for _ in range(n)]


def query_with_others(m, n):
    start, name, width = m.host(), m.pick(PICTURES), m.pick([100, 200, 640])
    marks = m.numbers(n, 1, 40, 3)
    return [f"{start}{name}.jpg?w={width}&h={width}&v={mark}" for mark in marks]


def shopify(m, n):
    start, kind = m.host(), m.pick(["css", "js", "png"])
    name = m.pick({"js": SCRIPTS, "css": STYLES}.get(kind, PICTURES)).replace("/", "-")
    return [f"{start}cdn/shop/t/7/assets/{name}.{kind}?v={m.number(10 ** 17, 10 ** 20)}" for _ in range(n)]


def semver_name(m, n):
    start, name, kind = m.host(), m.pick(LIBRARIES), m.pick(["js", "js", "css"])
    mini, separator = m.minified(), m.pick(["-", "-", ".", "_", "-v"])
    return [f"{start}js/{name}{separator}{mark}{mini}.{kind}" for mark in m.semvers(n)]


def semver_npm(m, n):
    start, name, mini = m.host(), m.pick(LIBRARIES), m.minified()
    scope = m.pick(["", "", "@acme/"])
    return [f"{start}npm/{scope}{name}@{mark}/dist/{name}{mini}.js" for mark in m.semvers(n)]


def semver_folder(m, n):
    start, name = m.host(), m.pick(LIBRARIES)
    v = m.pick(["", "", "v"])
    file = m.pick([f"{name}.min.js", "css/all.min.css", "images/marker-icon.png", "fonts/icons.woff2"])
    return [f"{start}ajax/libs/{name}/{v}{mark}/{file}" for mark in m.semvers(n)]


def semver_twice(m, n):
    start, name = m.host(), m.pick(LIBRARIES)
    return [f"{start}libs/{name}/{mark}/{name}-{mark}.min.js" for mark in m.semvers(n)]


def semver_prerelease(m, n):
    start, name = m.host(), m.pick(LIBRARIES)
    base = m.semvers(1)[0]
    return [f"{start}dist/{name}-{base}-{stage}.{number}.js" for stage, number in [("alpha", 1), ("beta", 1), ("beta", 2), ("rc", 1)][:n]]


def data_folder(m, n):
    start, name = m.host(), m.pick(["champion", "item", "runes", "cities"])
    return [f"{start}cdn/{mark}/data/en_US/{name}.json" for mark in m.semvers(n)]


def name_v(m, n):
    start, name, kind = m.host(), m.pick(PICTURES), m.pick(["png", "svg", "jpg", "webp"])
    separator = m.pick(["-", "_", "."])
    return [f"{start}img/{name}{separator}v{mark}.{kind}" for mark in m.numbers(n, 1, 9, 2)]


def name_date(m, n):
    start, name, kind = m.host(), m.pick(PICTURES), m.pick(["png", "png", "svg", "js", "css"])
    separator = m.pick(["_", "_", "-"])
    return [f"{start}static/{name}{separator}{y}{mo:02}{d:02}.{kind}" for y, mo, d in m.days(n)]


def name_time(m, n):
    start, name, kind = m.host(), m.pick(["app", "main", "vendor", "bundle-core"]), m.pick(["js", "css"])
    times = m.numbers(n, 1600000000, 1750000000, 1000000)
    if m.chance(0.5): times = [time * 1000 + m.number(0, 999) for time in times]
    return [f"{start}{kind}/{name}.{time}.{kind}" for time in times]


def qiniu_etag(m, n):
    start, name, kind = m.host(), m.pick(PICTURES + SCRIPTS[:8]), m.pick(["png", "jpg", "js", "css"])
    separator = m.pick(["-", "_"])
    etags = [base64.urlsafe_b64encode(b"\x16" + m.random.randbytes(20)).decode() for _ in range(n)]
    return [f"{start}{name}{separator}{etag}.{kind}" for etag in etags]


def qiniu_style(m, n):
    start, name = m.host(), m.pick(PICTURES)
    work = m.pick(["imageView2/2/w/200", "imageMogr2/thumbnail/300x", "imageView2/1/w/100/h/100"])
    return [f"{start}{name}.png?v={mark}&{work}" for mark in m.numbers(n, 1, 30, 4)]


def upyun_style(m, n):
    start, name, style = m.host(), m.pick(PICTURES), m.pick(["!small", "!thumb.100", "!w200"])
    return [f"{start}{name}.png{style}?v={mark}" for mark in m.numbers(n, 1, 30, 4)]


def compass(m, n):
    start, name = m.host(), m.pick(["icons", "flags", "ui"])
    return [f"{start}images/{name}-s{m.hex(10)}.png" for _ in range(n)]


def cloudinary(m, n):
    start, work, name = m.host(), m.pick(["", "w_200,h_100,c_fill/", "q_auto,f_auto/"]), m.pick(PICTURES)
    return [f"{start}image/upload/{work}v{mark}/{name}.jpg" for mark in m.numbers(n, 1500000000, 1750000000, 10000000)]


def git_commit(m, n):
    start, name = m.host(), m.pick(LIBRARIES)
    return [f"{start}gh/acme/{name}@{m.hex(40)}/dist/{name}.js" for _ in range(n)]


# Signed: the same object, fetched again.

def aws(m, n):
    start, key = m.host(), m.pick(["reports/2023/q1.pdf", "u/17/avatar", "videos/intro.mp4", "photos/1234.jpg"])
    result = []
    for y, mo, d in m.days(n):
        date = f"{y}{mo:02}{d:02}"
        token = f"&X-Amz-Security-Token={m.text(BASE62, 80)}" if m.chance(0.3) else ""
        result.append(f"{start}{key}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F{date}%2Feu-west-1%2Fs3%2Faws4_request"
                      f"&X-Amz-Date={date}T{m.number(0, 235959):06}Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host{token}&X-Amz-Signature={m.hex(64)}")
    return result


def aws_old(m, n):
    start, key = m.host(), m.pick(["a/b.zip", "backup", "img/7.png"])
    return [f"{start}{key}?AWSAccessKeyId=AKIAEXAMPLE&Expires={time}&Signature={m.text(BASE62, 26)}%2B{m.text(BASE62, 4)}%3D"
            for time in m.numbers(n, 1600000000, 1750000000, 100000)]


def cloudfront(m, n):
    start, key = m.host(), m.pick(["hls/master.m3u8", "films/trailer.mp4", "thumbs/17.jpg"])
    return [f"{start}{key}?Expires={time}&Signature={m.text(BASE62 + '-~_', 120)}&Key-Pair-Id=APKAEXAMPLE"
            for time in m.numbers(n, 1600000000, 1750000000, 100000)]


def google(m, n):
    start, key = m.host(), m.pick(["objects/17/data.bin", "img/cat.png"])
    return [f"{start}{key}?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=me%40example.com&X-Goog-Date={y}{mo:02}{d:02}T000000Z"
            f"&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature={m.hex(128)}" for y, mo, d in m.days(n)]


def qiniu_signed(m, n):
    start, key = m.host(), m.pick(["photo.jpg", "song.mp3", "private/doc.pdf", "data"])
    return [f"{start}{key}?e={time}&token=MY_ACCESS_KEY:{m.text(BASE62, 27)}=" for time in m.numbers(n, 1600000000, 1750000000, 100000)]


def aliyun(m, n):
    start, key = m.host(), m.pick(["photo.jpg", "a/video.mp4"])
    if m.chance(0.5): return [f"{start}{key}?auth_key={time}-0-0-{m.hex(32)}" for time in m.numbers(n, 1600000000, 1750000000, 100000)]
    return [f"{start}{key}?OSSAccessKeyId=LTAIEXAMPLE&Expires={time}&Signature={m.text(BASE62, 27)}%3D"
            for time in m.numbers(n, 1600000000, 1750000000, 100000)]


def tencent(m, n):
    start, key = m.host(), m.pick(["photo.jpg", "a/video.mp4"])
    result = []
    for time in m.numbers(n, 1600000000, 1750000000, 100000):
        span = f"{time}%3B{time + 600}"
        result.append(f"{start}{key}?q-sign-algorithm=sha1&q-ak=AKIDEXAMPLE&q-sign-time={span}&q-key-time={span}&q-header-list=host"
                      f"&q-url-param-list=&q-signature={m.hex(40)}")
    return result


def upyun_signed(m, n):
    start, key = m.host(), m.pick(["photo.jpg", "a/b.png"])
    return [f"{start}{key}?_upt={m.hex(8)}{time}" for time in m.numbers(n, 1600000000, 1750000000, 100000)]


def azure(m, n):
    start, key = m.host(), m.pick(["container/report.pdf", "blobs/image"])
    return [f"{start}{key}?sv=2021-08-06&se={y}-{mo:02}-{d:02}T00%3A00%3A00Z&sr=b&sp=r&sig={m.text(BASE62, 43)}%3D" for y, mo, d in m.days(n)]


VERSIONED = [webpack, webpack, webpack_numbered, webpack_map, webpack_media, webpack_font, short_hash, vite, vite, vite_media, vite_old,
             nuxt, svelte, next_js, angular, gatsby, ember, rails, rails, django, gulp_rev, phoenix, laravel_mix, hugo, retina_hash,
             sized_hash, query_version, query_version, query_version, wordpress, drupal, query_hash, query_time, query_random,
             query_bare, query_with_others, shopify, semver_name, semver_name, semver_npm, semver_folder, semver_twice,
             semver_prerelease, data_folder, name_v, name_date, name_time, qiniu_etag, qiniu_style, upyun_style, compass,
             cloudinary, git_commit, aws, aws_old, cloudfront, google, qiniu_signed, aliyun, tencent, upyun_signed, azure]


# What only looks so: each returns URLs of as many resources.

def retina(m, n):
    start, name, mark = m.host(), m.pick(PICTURES), m.pick(["", "-" + m.hex(8), "." + m.hex(32)])
    return [f"{start}img/{name}{scale}{mark}.png" for scale in ["", "@2x", "@3x", "@4x"][:n]]


def retina_query(m, n):
    start, name = m.host(), m.pick(PICTURES)
    return [f"{start}img/{name}{scale}.png?v=3" for scale in ["", "@2x", "@3x", "-2x"][:n]]


def sizes(m, n):
    start, name, separator = m.host(), m.pick(THINGS + PICTURES), m.pick(["-", "_"])
    return [f"{start}{name}{separator}{w}x{h}.jpg" for w, h in [(100, 100), (300, 200), (640, 480), (1024, 768)][:n]]


def sizes_hash(m, n):
    start, name, mark = m.host(), m.pick(PICTURES), m.hex(8)
    return [f"{start}{name}-{mark}-{w}x{w}.png" for w in [16, 32, 180, 512][:n]]


def widths(m, n):
    start, name = m.host(), m.pick(PICTURES)
    return [f"{start}icons/{name}-{w}.png" for w in m.random.sample([16, 32, 48, 64, 96, 128, 256, 512, 1024], n)]


def named_sizes(m, n):
    start, name, separator = m.host(), m.pick(THINGS), m.pick(["-", "_", "."])
    return [f"{start}{name}{separator}{size}.jpg" for size in ["small", "medium", "large", "thumb"][:n]]


def qiniu_sizes(m, n):
    start, name = m.host(), m.pick(THINGS)
    return [f"{start}{name}.jpg?{work}" for work in ["imageView2/2/w/200", "imageView2/2/w/400", "imageslim", "imageMogr2/rotate/90"][:n]]


def upyun_sizes(m, n):
    start, name = m.host(), m.pick(THINGS)
    return [f"{start}{name}.jpg{style}" for style in ["!small", "!large", "!thumb.100", "!w200"][:n]]


def query_sizes(m, n):
    start, name, key = m.host(), m.pick(THINGS), m.pick(["w", "width", "size", "s", "h", "q", "quality", "dpr"])
    return [f"{start}{name}.jpg?{key}={value}" for value in m.numbers(n, 100, 400, 300)]


def oss_sizes(m, n):
    start, name = m.host(), m.pick(THINGS)
    return [f"{start}{name}.jpg?x-oss-process=image/resize,w_{w}" for w in m.numbers(n, 100, 400, 300)]


def sizes_of_version(m, n):
    start, name, mark = m.host(), m.pick(THINGS), m.number(1, 9)
    return [f"{start}{name}.jpg?v={mark}&w={w}" for w in m.numbers(n, 100, 400, 300)]


def numbered_photos(m, n):
    start, name, separator = m.host(), m.pick(["photo", "image", "img", "IMG", "DSC", "picture", "slide", "page"]), m.pick(["-", "_", ""])
    return [f"{start}{name}{separator}{number}.jpg" for number in m.numbers(n, 1000, 9000, 50)]


def long_numbered(m, n):
    start, name = m.host(), m.pick(["photo", "item", "product", "p"])
    return [f"{start}{name}-{m.number(10 ** 7, 10 ** 11)}.jpg" for _ in range(n)]


def users(m, n):
    start = m.host()
    return [f"{start}user/{number}{m.pick(['', '/profile.json', '/avatar.png'])}" for number in m.numbers(n, 100, 900, 50)]


def dated_posts(m, n):
    start, end = m.host(), m.pick(["index.html", "cover.jpg", "data.json", ""])
    return [f"{start}{y}/{mo:02}/{d:02}/{end}" for y, mo, d in m.days(n)]


def dated_segments(m, n):
    start, separator, end = m.host(), m.pick(["-", ".", ""]), m.pick(["strip.png", "prices.json", "front.jpg"])
    return [f"{start}{y}{separator}{mo:02}{separator}{d:02}/{end}" for y, mo, d in m.days(n)]


def dated_content(m, n):
    start, name = m.host(), m.pick(["IMG", "photo", "report", "screenshot", "radar", "chart", "comic", "weather", "daily", "newsletter"])
    kind = "pdf" if name in ("report", "newsletter") else m.pick(["jpg", "png"])
    return [f"{start}{name}_{y}{mo:02}{d:02}.{kind}" for y, mo, d in m.days(n)]


def dated_data(m, n):
    start, name = m.host(), m.pick(["prices", "weather", "log", "rates", "scores"])
    return [f"{start}{name}-{y}{mo:02}{d:02}.json" for y, mo, d in m.days(n)]


def dated_dashes(m, n):
    start, name, kind = m.host(), m.pick(["report", "standup", "episode", "chart"]), m.pick(["json", "mp3", "png"])
    return [f"{start}{name}-{y}-{mo:02}-{d:02}.{kind}" for y, mo, d in m.days(n)]


def hash_only(m, n):
    start, kind, length = m.host(), m.pick(["js", "css", "jpg", "png", "webp", "json", "woff2"]), m.pick([8, 16, 20, 32, 40, 64])
    return [f"{start}{m.pick(['assets', 'media', 'i'])}/{m.hex(length)}.{kind}" for _ in range(n)]


def hash_only_sized(m, n):
    start, tail = m.host(), m.pick(["_100x100", "-thumb", "_o", "@2x", "_small"])
    return [f"{start}i/{m.hex(32)}{tail}.jpg" for _ in range(n)]


def hash_only_chunks(m, n):
    start = m.host()
    return [f"{start}_next/static/chunks/{m.hex(8)}-{m.hex(16)}.js" for _ in range(n)]


def anonymous_chunks(m, n):
    start = m.host()
    if m.chance(0.5): return [f"{start}chunk-{m.text(BASE32, 8)}.js" for _ in range(n)]
    return [f"{start}js/chunk.{m.hex(8)}.js" for _ in range(n)]


def different_chunks(m, n):
    start = m.host()
    return [f"{start}js/{name}.{m.hex(8)}.js" for name in m.random.sample(SCRIPTS[:20], n)]


def numbered_chunks(m, n):
    start = m.host()
    return [f"{start}js/{number}.{m.hex(8)}.chunk.js" for number in m.numbers(n, 0, 90, 9)]


def user_uploads(m, n):
    start, name = m.host(), m.pick(["avatar", "image", "photo", "upload", "file", "img", "thumb", "cover", "profile"])
    return [f"{start}uploads/{name}{m.pick('-_')}{m.hex(m.pick([8, 16, 32, 40]))}.{m.pick(['jpg', 'png'])}" for _ in range(n)]


def avatars(m, n):
    start, length = m.host(), m.pick([8, 12, 32])
    return [f"{start}avatars/{person}-{m.hex(length)}.png" for person in m.random.sample(PEOPLE, n)]


def uuids(m, n):
    start, name = m.host(), m.pick(["photo", "video", "attachment", "doc", "voice"])
    def uuid(): return "-".join(m.hex(length) for length in [8, 4, 4, 4, 12])
    return [f"{start}files/{name}-{uuid()}.{m.pick(['jpg', 'mp4', 'pdf', 'm4a'])}" for _ in range(n)]


def uuid_folders(m, n):
    start = m.host()
    return [f"{start}files/{m.hex(8)}-{m.hex(4)}-4{m.hex(3)}-a{m.hex(3)}-{m.hex(12)}/original.jpg" for _ in range(n)]


def object_ids(m, n):
    start, name = m.host(), m.pick(["product", "post", "item", "story"])
    return [f"{start}{name}-{m.hex(24)}.{m.pick(['jpg', 'json'])}" for _ in range(n)]


def hash_folders(m, n):
    start, name = m.host(), m.pick(["original.jpg", "small.jpg", "cover.png", "data.json", "tracker.js"])
    return [f"{start}media/{m.hex(32)}/{name}" for _ in range(n)]


def products(m, n):
    start = m.host()
    return [f"{start}catalog/{thing}_{m.hex(16)}.jpg" for thing in m.random.sample(THINGS, n)]


def pages(m, n):
    start, kind, key = m.host(), m.pick(["json", "html", "jpg"]), m.pick(["page", "p", "offset", "start", "from", "id", "q", "lang"])
    return [f"{start}list.{kind}?{key}={number}" for number in m.numbers(n, 1, 30, 9)]


def page_names(m, n):
    start, name = m.host(), m.pick(["page", "part", "chapter", "level", "slide"])
    return [f"{start}{name}-{number}.{m.pick(['json', 'png'])}" for number in m.numbers(n, 1, 30, 3)]


def api_versions(m, n):
    start, end = m.host(), m.pick(["users", "users.json", "config.json"])
    return [f"{start}api/v{number}/{end}" for number in range(1, n + 1)]


def api_queries(m, n):
    start, key = m.host(), m.pick(["v", "t", "version", "_"])
    if key in ("v", "version"): return [f"{start}watch?{key}={m.text(BASE62, 11)}" for _ in range(n)]
    return [f"{start}events?{key}={number}" for number in m.numbers(n, 1, 4000, 700)]


def word_parameters(m, n):
    start, key = m.host(), m.pick(["v", "version", "t", "type"])
    return [f"{start}theme.css?{key}={word}" for word in ["dark", "light", "mobile", "compact"][:n]]


def languages(m, n):
    start = m.host()
    return [f"{start}lang/{code}.{m.hex(8)}.json" for code in ["en", "de", "fr", "zh-CN"][:n]]


def camel_words(m, n):
    start = m.host()
    words = ["DataGrid", "FullPage", "MainMenu", "HomePage", "DarkMode", "FileTree", "ListView", "GridView", "NavPanel", "PlayList"]
    return [f"{start}js/admin-{word}.js" for word in m.random.sample(words, n)]


def plain_words(m, n):
    start = m.host()
    words = ["settings", "calendar", "security", "messages", "payments", "feedback", "contacts", "reporter", "facade", "deadbeat"]
    return [f"{start}js/page-{word}.js" for word in m.random.sample(words, n)]


def words_with_numbers(m, n):
    start, word = m.host(), m.pick(["section", "chapter", "iphone", "product", "holiday", "figure", "level"])
    return [f"{start}img/guide-{word}{number}.png" for number in m.random.sample(range(1, 30), n)]


def units(m, n):
    start, name = m.host(), m.pick(["trailer", "clip", "intro"])
    return [f"{start}{name}-{quality}.mp4" for quality in ["480p", "720p", "1080p", "2160p"][:n]]


def formats_of_code(m, n):
    start, name = m.host(), m.pick(LIBRARIES)
    return [f"{start}{name}.{flavour}.js" for flavour in ["es5", "es2015", "esm", "umd"][:n]]


def colours(m, n):
    start, name = m.host(), m.pick(["swatch", "pin", "marker", "dot"])
    return [f"{start}{name}-{m.hex(6)}.{m.pick(['png', 'svg'])}" for _ in range(n)]


def tiles(m, n):
    start, zoom = m.host(), m.number(5, 18)
    return [f"{start}tiles/{zoom}/{m.number(0, 4000)}/{m.number(0, 4000)}.png" for _ in range(n)]


def tiles_versioned(m, n):
    start, zoom, mark = m.host(), m.number(5, 18), m.number(1, 90)
    return [f"{start}tiles/{zoom}/{m.number(0, 4000)}/{m.number(0, 4000)}.png?v={mark}" for _ in range(n)]


def segments(m, n):
    start, name = m.host(), m.pick(["seg", "fileSequence", "chunk-stream0", "media"])
    return [f"{start}hls/{name}-{number:05}.{m.pick(['ts', 'm4s'])}" for number in m.numbers(n, 1, 900, 2)]


def libraries(m, n):
    start, mark = m.host(), m.semvers(1)[0]
    return [f"{start}npm/{name}@{mark}/dist/index.js" for name in m.random.sample(LIBRARIES, n)]


def figures(m, n):
    start, name = m.host(), m.pick(["figure", "fig", "table"])
    return [f"{start}{name}-{m.number(1, 9)}.{number}.png" for number in m.numbers(n, 1, 20, 4)]


def addresses(m, n):
    start = m.host()
    return [f"{start}hosts/10.{m.number(0, 255)}.{m.number(0, 255)}.{m.number(1, 254)}/status.json" for _ in range(n)]


def video_starts(m, n):
    start = m.host()
    return [f"{start}film.mp4?t={number}" for number in m.numbers(n, 10, 400, 300)]


def tokens_of_users(m, n):
    start = m.host()
    return [f"{start}api/me?token={m.hex(32)}" for _ in range(n)]


def signed_objects(m, n):
    start = m.host()
    return [f"{start}photos/{number}.jpg?X-Amz-Date=20230101T000000Z&X-Amz-Expires=3600&X-Amz-Signature={m.hex(64)}"
            for number in m.numbers(n, 1000, 9000, 50)]


def signed_sizes(m, n):
    start, time = m.host(), m.number(1600000000, 1750000000)
    return [f"{start}photo.jpg?imageView2/2/w/{w}&e={time}&token=MY_ACCESS_KEY:{m.text(BASE62, 27)}=" for w in m.numbers(n, 100, 400, 300)]


def signed_parts(m, n):
    start, time = m.host(), m.number(1600000000, 1750000000)
    return [f"{start}film.mp4?part={part}&Expires={time}&Signature={m.text(BASE62, 26)}&Key-Pair-Id=APKAEXAMPLE" for part in range(1, n + 1)]


def searches(m, n):
    start = m.host()
    return [f"{start}search.json?q={word}&v=3" for word in m.random.sample(THINGS, n)]


def social_photos(m, n):
    start = m.host()
    return [f"{start}t51/{m.number(10 ** 7, 10 ** 9)}_{m.number(10 ** 15, 10 ** 16)}_{m.number(10 ** 17, 10 ** 18)}_n.jpg" for _ in range(n)]


def video_thumbs(m, n):
    start, name = m.host(), m.pick(["hqdefault.jpg", "0.jpg", "maxres.jpg"])
    return [f"{start}vi/{m.text(BASE64URL, 11)}/{name}" for _ in range(n)]


def resources_with_one_name(m, n):
    start = m.host()
    return [f"{start}{folder}/index-{m.text(BASE64URL, 8)}.js" for folder in ["admin", "shop", "blog", "help"][:n]]


UNVERSIONED = [retina, retina_query, sizes, sizes_hash, widths, named_sizes, qiniu_sizes, upyun_sizes, query_sizes, oss_sizes,
               sizes_of_version, numbered_photos, long_numbered, users, dated_posts, dated_segments, dated_content, dated_data,
               dated_dashes, hash_only, hash_only_sized, hash_only_chunks, anonymous_chunks, different_chunks, numbered_chunks,
               user_uploads, avatars, uuids, uuid_folders, object_ids, hash_folders, products, pages, page_names, api_versions,
               api_queries, word_parameters, languages, camel_words, plain_words, words_with_numbers, units, formats_of_code,
               colours, tiles, tiles_versioned, segments, libraries, figures, addresses, video_starts, tokens_of_users,
               signed_objects, signed_sizes, signed_parts, searches, social_photos, video_thumbs, resources_with_one_name]


def made_up(seed, count=1000):
    """(style, resource, URL) of about `count` URLs: half of them of resources with several versions."""
    m = Maker(seed)
    result, seen, resource = [], set(), 0
    while len(result) < count:
        is_versioned = m.chance(0.5)
        style = m.pick(VERSIONED if is_versioned else UNVERSIONED)
        urls = style(m, m.number(2, 4))
        # Two equal ones, of the few that a style may have, are one resource stored once.
        if seen & set(urls) or len(set(urls)) < len(urls): continue
        seen |= set(urls)
        for url in urls:
            if not is_versioned: resource += 1
            result.append((style.__name__, resource, url))
        resource += 1
    return result


if __name__ == "__main__":
    for line in made_up(int(sys.argv[1]), *map(int, sys.argv[2:])): print(*line, sep="\t")
