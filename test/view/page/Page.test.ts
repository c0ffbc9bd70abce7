/** A page for a reader without scripts, and the data of the page. */
import { Page, Recording, Scene, Svg } from "@kintsugi/view"
import { describe, expect, it } from "vitest"

const recordingOf = (...events: ReadonlyArray<object>) =>
  Recording.fromEvents(
    events.map((event, index) => ({ runId: "r", agent: "desk", turn: 1, at: index * 1000, ...event }))
  )

const start = { type: "run-start", input: "Pay." }
const call = { callId: "c", tool: "pay" }
const error = { _tag: "NetworkError", message: "<lost>" }
const failing = recordingOf(
  start,
  { ...call, type: "tool-failed", attempt: 1, error },
  { ...call, type: "verdict", layer: "tool", tag: "NetworkError", verdict: "retry", attempt: 1, gaveUp: true },
  { type: "run-failed", error }
)

/** What is in the page for a reader without scripts, before the sums and the picture. */
const still = (...of: Parameters<typeof Page.make>) =>
  /<div class="still">(.*?)<p>[^<]*from beginning to end/s.exec(Page.make(...of))?.[1]

const dataOf = (page: string): unknown =>
  JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? "")

describe("a page [P1211]", () => {
  it("is one document in UTF-8, light or dark, with its title and its picture [P1211 P1700]", () => {
    const recording = recordingOf(start, { type: "run-completed", output: "" })
    const page = Page.make(recording, { title: "<Mine>" })
    // the lines that are no style and no script
    const lines = page.split("\n").filter((line) => !/^<(?:style|script)|Content-Security-Policy/.test(line))
    const short = lines.flatMap((line) => (line.length < 100 ? [line] : []))
    expect(short.slice(0, 9)).toEqual([
      "<!doctype html>",
      '<html lang="en">',
      "<head>",
      '<meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="color-scheme" content="light dark">',
      "<title>&lt;Mine&gt;</title>",
      "</head>",
      "<body>"
    ])
    expect(short.slice(-3)).toEqual(["</body>", "</html>", ""])
    expect(dataOf(page)).toMatchObject({ title: "<Mine>" })
    expect(dataOf(Page.make(recording))).not.toHaveProperty("title")
    const drawn = Svg.draw(Scene.make(recording))
    const [, height, inner] = /viewBox="0 0 1000 (\d+)".*?<rect class="k-paper"[^>]*>(.*)<\/svg>$/s.exec(drawn) ?? []
    const picture = lines.find((line) => line.startsWith('<main id="report">')) ?? ""
    expect(picture.slice(picture.indexOf("from beginning"))).toBe(
      `from beginning to end. 0 turns, 0 attempts of models, 0 tool calls. 0 failures, 0 verdicts, 0 ms of waits. Spent on recovery: 0 tokens. Spent on work: 0 tokens.</p><svg class="k-figure" role="img" aria-label="Timeline" viewBox="0 0 1000 ${height}">${inner}</svg></div></main>`
    )
  })
})

describe("a page without its script [P1700]", () => {
  it("has the answer of a run, its time and its spending [P1700]", () => {
    expect(still(recordingOf(start, { type: "run-completed", output: "<Paid>" }))).toBe(
      "<h2>Completed</h2><p>1 s · $0</p><p>&lt;Paid&gt;</p>"
    )
    expect(still(Recording.fromEvents([]))).toBe("")
    expect(still(recordingOf(start))).toBe("<h2>No end</h2><p>0 ms · $0</p>")
  })

  it("has the failure of a run, its code, its last verdict and the row that would have gone on [P1701]", () => {
    expect(still(failing)).toBe(
      "<h2>NetworkError: &lt;lost&gt;</h2><p>3 s · 1 failure: 0 healed, 1 lost · $0</p><p><code>KINTSUGI-NETWORK</code> · <code>retry</code></p>"
    )
    expect(still(failing, { links: { docs: "https://d.example", trace: "https://t.example/{runId}" } })).toContain(
      '<p><a href="https://d.example/errors#networkerror">KINTSUGI-NETWORK</a> · <a href="https://d.example/guide/recovery#how-retries-are-counted">retry</a> · <a href="https://t.example/r">Open the trace</a></p>'
    )
    const busy = { name: "Busy", message: "later" }
    const bare = recordingOf(
      start,
      { ...call, type: "tool-failed", attempt: 1, error: busy },
      { type: "run-failed", error: busy }
    )
    expect(still(bare)).toBe(
      "<h2>Busy: later</h2><p>2 s · 1 failure: 0 healed, 1 lost · $0</p><p>A row that would have gone on: <code>Tool.onError({ Busy: Recovery.tell() })</code></p>"
    )
    expect(still(bare, { links: { docs: "https://d.example" } })).toContain(
      '</p><p><a href="https://d.example/guide/tool-recovery#which-verdict-for-which-failure">About this row</a></p>'
    )
  })
})

describe("the data of a page [P1217]", () => {
  it("are the events without snapshots, the problems, the links and the test [P1217]", () => {
    const recording = recordingOf(start, { type: "run-suspended", snapshot: { secret: 1 }, more: 2 })
    expect(dataOf(Page.make(recording))).toEqual({
      events: [
        { runId: "r", agent: "desk", turn: 1, at: 0, ...start },
        { runId: "r", agent: "desk", turn: 1, at: 1000, type: "run-suspended", more: 2 }
      ],
      problems: [],
      links: {}
    })
    const all = { title: "<Mine>", links: { docs: "https://d.example" }, test: "the test" }
    const page = Page.make(recording, all)
    expect(dataOf(page)).toMatchObject(all)
    expect(page).toContain("<title>&lt;Mine&gt;</title>")
    expect(page).toContain('<header><div class="line"><h1>&lt;Mine&gt;</h1></div></header>')
    expect(page).toContain("; connect-src 'none'; base-uri 'none'; form-action 'none'\">")
  })

  it("of a run at work are the address of its events [P1219]", () => {
    const page = Page.live({ url: "/events" })
    expect(dataOf(page)).toEqual({ url: "/events" })
    expect(page).toContain("<title>A run at work</title>")
    expect(page).toContain("; connect-src 'self'; base-uri")
    expect(page).toContain('<main id="report"><div class="still"></div></main>')
    expect(dataOf(Page.live({ url: "/events", title: "Mine", body: { a: 1 } }))).toEqual({
      url: "/events",
      title: "Mine",
      body: { a: 1 }
    })
  })
})

describe("the frame of a page", () => {
  /** The lines of a page without its style, its script and the addresses of both. */
  const frameOf = (page: string) =>
    page
      .replace(/<style>[^]*?<\/style>/, "<style></style>")
      .replace(/<script>[^]*?<\/script>/, "<script></script>")
      .replaceAll(/'sha256-[^']+'/g, "'sha256'")
      .split("\n")

  const around = (title: string, connect: string, still: string, data: string) => [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256'; style-src 'sha256'; connect-src ${connect}; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${title}</title>`,
    "<style></style>",
    "</head>",
    "<body>",
    `<header><div class="line"><h1>${title}</h1></div></header>`,
    `<main id="report"><div class="still">${still}</div></main>`,
    `<script type="application/json" id="data">${data}</script>`,
    "<script></script>",
    "</body>",
    "</html>",
    ""
  ]

  it("has the style and the script of their digests, and no other code [P1214]", () => {
    expect(frameOf(Page.live({ url: "/events" }))).toEqual(
      around("A run at work", "'self'", "", JSON.stringify({ url: "/events" }))
    )
    expect(frameOf(Page.live({ url: "/events", title: "<Ours>", body: { a: 1 } }))).toEqual(
      around("&lt;Ours&gt;", "'self'", "", String.raw`{"title":"\u003cOurs\u003e","url":"/events","body":{"a":1}}`)
    )
    const lines = frameOf(Page.make(recordingOf(start, { type: "run-completed", output: "Paid" })))
    const [still, data] = [12, 13].map(
      (line) =>
        /^(?:<main id="report"><div class="still">|<script [^>]*>)(.*?)(?:<\/div><\/main>|<\/script>)$/.exec(
          lines[line] ?? ""
        )?.[1] ?? ""
    )
    expect(lines).toEqual(around("✓ Completed · desk", "'none'", still ?? "", data ?? ""))
    expect(still).toMatch(/<svg class="k-figure" role="img" aria-label="Timeline" viewBox="0 0 1000 \d+">.+<\/svg>/)
    expect(JSON.parse(data ?? "")).not.toHaveProperty("title")
  })
})
