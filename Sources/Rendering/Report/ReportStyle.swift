// In the page itself, because a report must look the same when it is opened years later and without
// a network.
/// The style sheet of a report: light and dark, for wide and narrow screens, and for print.
enum ReportStyle {
  /// The SHA-256 digest of ``source`` in Base64, by which the policy of the page allows the style sheet.
  static let digest: HTML = "nfyT+MTXbbKNpvsZxK4pCfXVTOPZpt+lFyv6Cabk65E="

  /// The style sheet.
  static let source: HTML = #"""
    :root{color-scheme:light;--bg:#f5f6f8;--card:#fff;--ink:#161b26;--mut:#566072;--line:#e3e7ed;
    --grid:#e9edf2;--acc:#2457c5;--fresh:#1f8a80;--validatable:#8fbfd0;--expired:#d99a1c;--no-lifetime:#8b97a8;
    --unknown:#c7a5b3;
    --s0:#1f8a80;--s1:#4698a0;--s2:#69a8b5;--s3:#86b6c6;--s4:#a9cbd8;--s5:#77839a;--d1:#3c6ea8;--d2:#86b0d8;
    --d3:#b9c2cf;--d4:#7d62ad;--d5:#b7a6d6;--d6:#55708a;--d7:#93aabd;--warn:#8a5300;--calm:#2b6478;--good:#156b63;
    --goodbg:#def3f0;--bad:#b23a2e;--badbg:#fde8e5;--warnbg:#fff1d6;--code:#f0f3f7}
    @media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;--bg:#0e1217;--card:#161b22;--ink:#e7ecf3;
    --mut:#98a4b5;--line:#28303b;--grid:#242c37;--acc:#7fb0ff;--fresh:#2fa89b;--validatable:#5f93a8;
    --expired:#dca634;--no-lifetime:#8592a3;--unknown:#86667a;--s0:#2fa89b;--s1:#4fa3a9;--s2:#629fb0;--s3:#729cb4;--s4:#8299b8;
    --s5:#566074;--d1:#4a82c4;--d2:#8fb9e2;--d3:#5d6877;--d4:#9d85d1;--d5:#6f5e96;--d6:#7f9db8;--d7:#3c5166;--warn:#ffce7a;
    --calm:#8fc3d6;--good:#63cfc3;--goodbg:#12302d;--bad:#f08a7c;--badbg:#3a1c19;--warnbg:#33270f;--code:#1f2630}}
    @media screen{:root[data-theme=dark]{color-scheme:dark;--bg:#0e1217;--card:#161b22;--ink:#e7ecf3;
    --mut:#98a4b5;--line:#28303b;--grid:#242c37;--acc:#7fb0ff;--fresh:#2fa89b;--validatable:#5f93a8;
    --expired:#dca634;--no-lifetime:#8592a3;--unknown:#86667a;--s0:#2fa89b;--s1:#4fa3a9;--s2:#629fb0;--s3:#729cb4;--s4:#8299b8;
    --s5:#566074;--d1:#4a82c4;--d2:#8fb9e2;--d3:#5d6877;--d4:#9d85d1;--d5:#6f5e96;--d6:#7f9db8;--d7:#3c5166;--warn:#ffce7a;
    --calm:#8fc3d6;--good:#63cfc3;--goodbg:#12302d;--bad:#f08a7c;--badbg:#3a1c19;--warnbg:#33270f;--code:#1f2630}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font-variant-numeric:tabular-nums;
    font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
    .wrap{max-width:1240px;margin:0 auto;padding:0 16px}
    h1,h2,p,ul,ol,dl,dd{margin:0;padding:0}
    ul,ol{list-style:none}
    h1{font-size:19px;line-height:1.25}
    h2{font-size:16px}
    a{color:var(--acc)}
    .mut,.sub{color:var(--mut)}
    .sub{font-size:13.5px;margin-bottom:8px}
    .gap{margin-top:18px}
    code,.path,.url{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
    code{font-size:12.5px;line-height:1.45;background:var(--code);border:1px solid var(--line);
    border-radius:6px;padding:6px 10px;display:block;white-space:pre-wrap;overflow-wrap:anywhere;
    user-select:all}
    code span{display:inline-block;max-width:100%}
    code.copy{position:relative;padding-right:64px}
    code button{position:absolute;top:4px;right:4px;font-size:12px;padding:1px 8px;user-select:none}
    code.in{display:inline;white-space:nowrap;padding:1px 5px;font-size:12px;border-radius:4px}
    .vh{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    .top{background:var(--card);border-bottom:1px solid var(--line);padding:14px 0;margin-bottom:18px}
    .top .wrap{display:flex;align-items:center;gap:24px;flex-wrap:wrap}
    .id{display:flex;gap:12px;align-items:center;flex:1 1 420px;min-width:0}
    .id>div{min-width:0}
    .logo{width:34px;height:34px;flex:none}
    .path{color:var(--mut);font-size:13px;overflow-wrap:anywhere}
    .meta{display:flex;gap:12px 26px;font-size:13px;flex-wrap:wrap}
    .meta dt{color:var(--mut);font-size:12px}
    .meta dd{font-weight:600}
    button{font:inherit;font-size:13px;color:var(--ink);background:var(--card);border:1px solid var(--line);
    border-radius:7px;padding:5px 12px;cursor:pointer}
    button:hover{border-color:var(--acc)}
    :focus-visible{outline:2px solid var(--acc);outline-offset:2px}
    .card,.verdict,.tiles>div{background:var(--card);border:1px solid var(--line);border-radius:12px}
    .card{padding:18px 20px;margin-bottom:16px;min-width:0}
    .ch{display:flex;gap:8px 14px;align-items:baseline;flex-wrap:wrap;margin-bottom:8px}
    .ch h2{margin-right:auto}
    .verdict{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1.1fr);margin-bottom:16px}
    .say{padding:22px 24px;display:flex;flex-direction:column;align-items:stretch}
    .big span{display:block}
    .do{padding:22px 24px;border-left:1px solid var(--line)}
    .do h2{margin-bottom:12px}
    .do li{margin-bottom:12px}
    .do li>span{display:block;margin-bottom:5px;font-size:14px}
    .do .mut{font-size:12.5px}
    .chips{display:flex;flex-wrap:wrap;gap:6px;margin-bottom:10px}.legend+.chips{margin-top:16px}
    .chip{font-size:12.5px;font-weight:600;border-radius:99px;padding:3px 11px}
    .chip.error{color:var(--bad);background:var(--badbg)}
    .chip.warning{color:var(--warn);background:var(--warnbg)}
    .chip.good{color:var(--good);background:var(--goodbg)}
    .chip.note{color:var(--mut);background:var(--code)}
    .big{font-size:25px;line-height:1.28;letter-spacing:-.015em;margin-bottom:10px;text-wrap:balance}
    .more{color:var(--mut);margin-bottom:16px;overflow-wrap:anywhere}
    .more b{color:var(--ink)}
    svg{display:block;width:100%;height:auto;overflow:visible}
    .gauge{height:22px;border-radius:5px;margin-bottom:14px;overflow:hidden}
    .gt{fill:var(--grid)}
    .lim{fill:var(--ink)}
    .open{fill:none;stroke:var(--mut);stroke-width:3;stroke-dasharray:10 8}
    .gl{display:flex;flex-wrap:wrap;gap:0 12px;justify-content:space-between;font-size:12.5px;margin-bottom:4px}
    .legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12.5px;color:var(--mut)}
    .legend li{display:flex;align-items:center;gap:6px}
    i{display:inline-block;width:11px;height:11px;border-radius:3px;flex:none;margin-right:2px}
    .b-fresh{background:var(--fresh)}.b-validatable{background:var(--validatable)}
    .b-expired{background:var(--expired)}
    .b-no-lifetime{background:var(--no-lifetime)}.b-unknown{background:var(--unknown)}
    .f-fresh{fill:var(--fresh)}.f-validatable{fill:var(--validatable)}
    .f-expired{fill:var(--expired)}
    .f-no-lifetime{fill:var(--no-lifetime)}.f-unknown{fill:var(--unknown)}.f-other{fill:var(--d3)}.b-other{background:var(--d3)}
    i.s0{background:var(--s0)}i.s1{background:var(--s1)}i.s2{background:var(--s2)}
    i.s3{background:var(--s3)}i.s4{background:var(--s4)}
    .ramp{gap:0 1px;flex-wrap:nowrap;white-space:nowrap}
    .ramp li:first-child{margin-right:8px}
    .ramp i{width:22px;margin:0}
    .ramp li:nth-child(2){flex-direction:row-reverse}
    .tiles{display:grid;grid-template-columns:repeat(5,1fr);gap:12px;margin-bottom:16px}
    .tiles>div{padding:13px 16px;min-width:0}
    .tiles p,.tiles span{font-size:12.5px;color:var(--mut)}
    .tiles b{display:block;font-size:22px;letter-spacing:-.02em;line-height:1.3}
    .tiles .bad b{color:var(--bad)}.tiles a{white-space:nowrap}
    .two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:0 16px}
    .two>div{min-width:0;display:flex;flex-direction:column}.two>div>:last-child{flex:1}
    .hb{fill:var(--grid);stroke:var(--card);stroke-width:2}
    .hl{font-size:12.5px;font-weight:600;fill:var(--ink)}
    .hs{font-size:12px;fill:var(--mut)}
    .cell text{font-size:12px;fill:#fff;pointer-events:none}
    .cell .sm{font-size:11.5px}
    .cell.s0 rect{fill:var(--s0)}.cell.s1 rect{fill:var(--s1)}.cell.s2 rect{fill:var(--s2)}
    .cell.s3 rect{fill:var(--s3)}.cell.s4 rect{fill:var(--s4)}.cell.s5 rect{fill:var(--s5)}
    .cell:not(.s5) text{fill:#171204}
    .cell[role]{cursor:pointer}
    .cell:hover rect,.cell:focus-visible rect{stroke:var(--ink);stroke-width:2}
    .cell:focus{outline:none}
    .crumb,.tip{font-size:13px;color:var(--mut);overflow-wrap:anywhere}
    .crumb button{border:0;background:none;padding:0;color:var(--acc);text-decoration:underline}
    .tip{min-height:20px;margin:9px 0 4px}
    .scroll-x{overflow-x:auto}
    details{margin-top:6px}
    summary{color:var(--mut);cursor:pointer;font-size:13px}
    .grid{stroke:var(--grid)}.base,.tick{stroke:var(--mut)}
    .ax{font-size:11.5px;fill:var(--mut)}
    .sum{fill:var(--ink);font-weight:600}
    .hit{fill:transparent}.bar:hover .hit{fill:var(--grid)}
    .wa{fill:var(--acc);opacity:.13}.wf{fill:var(--fresh);opacity:.85}
    .wl{fill:none;stroke:var(--acc);stroke-width:2.2}
    .cur{stroke:var(--ink);stroke-dasharray:3 3}
    .dot{fill:var(--card);stroke:var(--acc);stroke-width:2.6}
    .rng input{width:calc(88.6% + 16px);margin:2px 0 8px calc(10% - 8px);accent-color:var(--acc)}
    .wiout{font-size:14px;margin-bottom:8px}
    path.l1,path.l2{fill:none;stroke-width:2.4}
    path.l1{stroke:var(--d1)}path.l2{stroke:var(--d4)}
    i.l1{background:var(--d1)}i.l2{background:var(--d4)}
    .stack{height:20px;border-radius:5px;margin-bottom:6px;overflow:hidden}
    rect.d1{fill:var(--d1)}i.d1{background:var(--d1)}rect.d2{fill:var(--d2)}i.d2{background:var(--d2)}
    rect.d3{fill:var(--d3)}i.d3{background:var(--d3)}rect.d4{fill:var(--d4)}i.d4{background:var(--d4)}
    rect.d5{fill:var(--d5)}i.d5{background:var(--d5)}rect.d6{fill:var(--d6)}i.d6{background:var(--d6)}
    rect.d7{fill:var(--d7)}i.d7{background:var(--d7)}
    table{border-collapse:collapse;width:100%}
    .plain{font-size:13px;margin-top:6px}
    .plain th,.plain td{padding:4px 8px;text-align:right;border-top:1px solid var(--line);font-weight:400;
    white-space:nowrap}
    .plain th:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere}
    .plain thead th{color:var(--mut);border:0;white-space:normal;vertical-align:bottom}
    .plain i{margin-right:7px}.plain th>.mut{display:block}.plain .mk{padding-left:28px;text-indent:-20px}.plain .mk .mut{text-indent:0}
    #q{font:inherit;font-size:13.5px;width:290px;max-width:100%;padding:6px 11px;border-radius:8px;
    border:1px solid var(--line);background:var(--bg);color:var(--ink)}
    .scroll{max-height:560px;overflow:auto;margin:0 -20px -18px;border-top:1px solid var(--line);
    border-radius:0 0 12px 12px}
    #ent{font-size:13px}
    #ent th{position:sticky;top:0;background:var(--card);text-align:left;font-size:12.5px;color:var(--mut);
    padding:9px 10px;white-space:nowrap;box-shadow:0 1px 0 var(--line);z-index:1}
    #ent th button{border:0;background:none;padding:0;font-weight:600;color:inherit}
    #ent .num{text-align:right}
    #ent th[aria-sort]{color:var(--ink)}
    #ent th[aria-sort=descending]::after{content:" ▾"}
    #ent th[aria-sort=ascending]::after{content:" ▴"}
    #ent td{padding:6px 10px;border-top:1px solid var(--line);white-space:nowrap}
    #ent tbody tr:hover td{background:var(--bg)}
    #ent td:first-child,#ent th:first-child{padding-left:20px}
    #ent td:last-child,#ent th:last-child{padding-right:20px}
    #ent .url{max-width:0;width:55%;overflow:hidden;text-overflow:ellipsis;font-size:12.5px}
    #ent .url bdi{display:flex}
    #ent .url .mut,#ent .url .end{flex:none}#ent .url .mid{min-width:0;overflow:hidden;text-overflow:ellipsis}
    #ent tr.open .url{white-space:normal;overflow-wrap:anywhere}#ent tr.open .url bdi{display:block}
    .rest{margin-top:26px}
    .sb{width:60px;height:3px;margin:1px 0 0 auto}
    #ent .failed{font-weight:700}
    #ent .mime{color:var(--mut);max-width:180px;overflow:hidden;text-overflow:ellipsis}
    .pill{font-size:12px;padding:1px 9px;border-radius:99px;border:1px solid}
    .p-fresh{color:var(--good)}.p-validatable{color:var(--calm)}.p-expired{color:var(--warn)}
    .p-no-lifetime,.p-unknown{color:var(--mut)}
    .chk li{padding:6px 0 6px 26px;position:relative;font-size:14px}
    .chk li::before{position:absolute;left:0;width:18px;text-align:center;font-weight:700}
    .chk .good::before{content:"✓";color:var(--good)}
    .chk .note::before{content:"i";color:var(--acc);font-style:italic;font-family:serif}
    .chk .warning::before{content:"!";color:var(--warn)}
    .chk .error::before{content:"✕";color:var(--bad)}
    .chk code{margin-top:4px}
    footer{color:var(--mut);font-size:12.5px;padding:6px 4px 40px;max-width:86ch}
    @media (max-width:900px){.two,.verdict{grid-template-columns:minmax(0,1fr)}
    .do{border-left:0;border-top:1px solid var(--line)}.tiles{grid-template-columns:repeat(2,1fr)}
    #ent .mime,#ent th:nth-child(2),#ent td:last-child,#ent th:last-child{display:none}}
    @media (max-width:560px){.ax{font-size:17px}.sum{font-size:15px}.alt,.sch{display:none}#ent .url{width:100%;min-width:150px}
    .top .wrap{gap:12px 14px}.tiles b{font-size:18px}.pill{font-size:11px;padding:1px 6px}#ent th{font-size:11.5px}
    #ent td:first-child,#ent th:first-child{padding-left:16px}
    #ent td:nth-child(3),#ent th:nth-child(3),#ent td:nth-child(5),#ent th:nth-child(5){display:none}
    #ent .url bdi{flex-wrap:wrap}#ent .url .mut{flex:0 0 100%;overflow:hidden;text-overflow:ellipsis}
    #ent .url .mid{flex:0 1 auto;max-width:calc(100% - 20ch)}.big{font-size:22px}
    .say,.do,.card{padding:16px}.scroll{margin:0 -16px -16px}.tiles>div:last-child{grid-column:1/-1}}
    @media print{body{background:#fff}.top button,#q,.rng,details{display:none}
    .scroll{max-height:none;overflow:visible}#ent th{position:static}#ent .url{white-space:normal;
    overflow-wrap:anywhere}.card,.verdict,.tiles>div{break-inside:avoid}#entries{break-inside:auto}
    }
    """#
}
