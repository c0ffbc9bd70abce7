/** `kintsugi report`. */
import { Recording, Scene, Svg } from "@kintsugi/view"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { editorOf, editorUrl } from "../../../packages/view/src/recording/Links.ts"
import { outcomeOf, sentenceOf } from "../../../packages/view/src/recording/Outcome.ts"
import { mid, midFile } from "../_support/recorded.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"

const { file, folder, newFolder } = folderOfTests()

const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
const whole = file("events.jsonl", events)
const lines = events.trimEnd().split("\n")

describe("kintsugi report", () => {
  it("writes the page or the timeline, by the ending [P1237]", async () => {
    const page = join(folder, "report.html")
    expect(await kintsugi(["report", whole, "-o", page])).toEqual({
      code: 0,
      out: expect.stringMatching(/^✓ Completed: json-analyst .*\n.*report\.html\n$/),
      err: ""
    })
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>/)
    const drawing = join(folder, "report.svg")
    expect(await kintsugi(["report", "--output", drawing, whole])).toMatchObject({ code: 0, err: "" })
    expect(readFileSync(drawing, "utf8").trimEnd()).toBe(Svg.draw(Scene.make(Recording.parse(events))))
  })

  it("says first how the run ended, on standard output, in the title and in the text without scripts [P1700]", async () => {
    const target = join(folder, "failed.html")
    const { code, err, out } = await kintsugi(["report", midFile("mid-fail"), "-o", target])
    expect([code, err]).toEqual([0, ""])
    const sentence = sentenceOf(outcomeOf(mid("mid-fail")) ?? expect.fail())
    const index = outcomeOf(mid("mid-fail"))?.fatal?.index
    expect(out.split("\n")).toEqual([
      sentence,
      "A row that would have gone on: Tool.onError({ PaymentDeclined: Recovery.tell() })",
      expect.stringMatching(new RegExp(`failed\\.html#e=${index}$`)),
      ""
    ])
    const page = readFileSync(target, "utf8")
    expect(page).toContain("<title>✕ PaymentDeclined · refund-desk</title>")
    const [, still] = /<main id="report">(.*?)<\/main>/s.exec(page) ?? []
    for (const text of [sentence, "Tool.onError({ PaymentDeclined: Recovery.tell() })"])
      expect(still).toContain(text.replaceAll('"', "&quot;"))
    expect(Svg.draw(Scene.make(mid("mid-fail")))).toContain(`<desc id="k-desc">${sentence.replaceAll('"', "&quot;")}`)
  })

  it("links the trace of the run and the documentation, and nothing but the web [P1706]", async () => {
    const target = join(folder, "linked.html")
    const trace = "https://traces.example/ui?q=kintsugi.run.id%3D{runId}&from={from}&to={to}"
    const links = ["--trace-url", trace, "--docs-url", "https://docs.example/{page}"]
    expect((await kintsugi(["report", midFile("mid-fail"), "-o", target, ...links])).code).toBe(0)
    const page = readFileSync(target, "utf8")
    expect(page).toContain("q=kintsugi.run.id%3Drun-gx0ux1499c3in3z322cjzd&amp;from=1795300740000&amp;to=1795311599786")
    expect(page).toContain("https://docs.example/guide/tool-recovery#which-verdict-for-which-failure")
    for (const flag of ["--trace-url", "--docs-url"]) {
      const refused = await kintsugi(["report", midFile("mid-fail"), "-o", target, flag, "javascript:alert(1)"])
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(`${flag} must begin with https://`) })
    }
  })

  it("links tools to an editor, which is no script [P1709]", async () => {
    const editor = (name: string) =>
      editorUrl({ editor: editorOf(name) ?? "", folder: "/home/me" }, "src/a b#c.ts:31:20")
    expect([editor("vscode"), editor("cursor"), editor("idea"), editor("zed://file{file}:{line}")]).toEqual([
      "vscode://file/home/me/src/a%20b%23c.ts:31:20",
      "cursor://file/home/me/src/a%20b%23c.ts:31:20",
      "idea://open?file=/home/me/src/a%20b%23c.ts&line=31&column=20",
      "zed://file/home/me/src/a%20b%23c.ts:31"
    ])
    expect(editorUrl({ editor: "vscode://file{file}:{line}" }, "/opt/x.ts:1:2")).toBe("vscode://file/opt/x.ts:1")
    expect(editorUrl({ editor: "x://{file}", folder: "C:\\me" }, "src/a.ts:1:2")).toBe("x:///C:/me/src/a.ts")
    expect(editorUrl({ editor: "x://{file}" }, "d:\\me\\a.ts:1:2")).toBe("x:///d:/me/a.ts")
    expect(editorUrl({ editor: "x://{file}" }, "/opt/\ud800.ts:1:2")).toBe("x:///opt/%EF%BF%BD.ts")
    expect([editorUrl({}, "a.ts:1:2"), editorUrl({ editor: "x://{file}" }, "javascript:alert(1)")]).toEqual([
      undefined,
      undefined
    ])
    const plain = (await kintsugi(["report", midFile("mid-fail"), "-o", "-"])).out
    expect(plain).not.toContain('"editor":')
    expect(plain).not.toContain('"folder":')
    const target = join(folder, "edited.html")
    const made = await kintsugi(["report", midFile("mid-fail"), "-o", target, "--editor", "vscode"])
    expect(made.code).toBe(0)
    expect(readFileSync(target, "utf8")).toContain('"editor":"vscode://file{file}:{line}:{column}","folder":"/')
    for (const name of [
      "javascript://{file}",
      "JavaScript://%0aalert(1){file}",
      "data://{file}",
      "emacs",
      "x://none"
    ]) {
      const refused = await kintsugi(["report", midFile("mid-fail"), "-o", target, "--editor", name])
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--editor must be vscode, cursor, idea") })
    }
  })

  it("reads standard input, and writes to standard output, where no file is named [P1237]", async () => {
    const asked = await kintsugi(["report", "--format", "svg"], { stdin: events })
    expect(asked).toMatchObject({ code: 0, err: "" })
    expect(asked.out.trimEnd()).toBe(Svg.draw(Scene.make(Recording.parse(events))))
    const dashed = await kintsugi(["report", "-", "-o", "-", "--title", "<Mine>"], { stdin: events, isTerminal: true })
    expect(dashed).toMatchObject({ code: 0, err: "" })
    expect(dashed.out).toContain("<title>&lt;Mine&gt;</title>")
  })

  it("puts no markup on a terminal by surprise, and does not wait for typed events [P1237]", async () => {
    expect(await kintsugi(["report", whole], { isTerminal: true })).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("-o FILE.html")
    })
    expect(await kintsugi(["report", whole, "--format", "svg"], { isTerminal: true })).toEqual({
      code: 2,
      out: "",
      err: "error: SVG on a terminal is of no use: say where it goes, -o FILE.svg, or -o - for here all the same\n"
    })
    expect(await kintsugi(["report"], { isTerminal: true })).toMatchObject({ code: 2, out: "" })
  })

  it("draws the readable part of a broken file, and reports what is missing [P1237]", async () => {
    const broken = file(
      "broken.jsonl",
      [lines[1], "{ nope", '{"a":1}', ...lines.slice(2, 8), lines[8]?.slice(0, 40)].join("\n")
    )
    const target = join(folder, "broken.html")
    const { code, err, out } = await kintsugi(["report", broken, "-o", target])
    expect(code).toBe(0)
    expect(out).toMatch(/^… No end: /)
    expect(err).toContain("broken.jsonl:2: It is no JSON.")
    expect(err).toContain("broken.jsonl:3: It is no event")
    expect(err).toMatch(/broken\.jsonl:10: .*cut off/)
    expect(err).toMatch(/broken\.jsonl: The beginning of run/)
    expect(err).toMatch(/broken\.jsonl: The end of run/)
    expect(readFileSync(target, "utf8")).toContain("It is no JSON.")
  })

  it("counts what it does not list of a very broken file [P1237]", async () => {
    const broken = file("very.jsonl", [lines[0], ...Array.from({ length: 40 }, () => "nope")].join("\n"))
    const { code, err } = await kintsugi(["report", broken, "-o", join(folder, "very.html")])
    expect(code).toBe(0)
    expect(err.trimEnd().split("\n")).toHaveLength(11)
    expect(err.trimEnd().split("\n").at(-1)).toMatch(/very\.jsonl: 31 more problems$/)
    // of a report that is not written nothing is said
    const nothing = file("nothing.jsonl", "nope\n".repeat(40))
    const refused = await kintsugi(["report", nothing])
    expect([refused.code, refused.out]).toEqual([1, ""])
    expect(refused.err).toContain("30 more problems")
    expect(refused.err).not.toContain("in the report")
  })

  it.each([
    ["\ufeff", "utf16le"],
    ["", "utf16le"]
  ] as const)("names the encoding of a file that is no UTF-8: %j %s [P1237]", async (mark, encoding) => {
    const other = join(folder, "other.jsonl")
    writeFileSync(other, Buffer.from(mark + events, encoding))
    for (const bytes of [readFileSync(other), readFileSync(other).swap16()]) {
      writeFileSync(other, bytes)
      const says = "it is UTF-16, and events are UTF-8"
      const { code, err, out } = await kintsugi(["report", other])
      expect([code, out, err.split("\n")]).toEqual([1, "", [expect.stringContaining(`other.jsonl: ${says}`), ""]])
      expect((await kintsugi(["stats", other])).err).toContain(`other.jsonl: ${says}`)
    }
  })

  it("compares two files, as text or as a page [P1273]", async () => {
    const [before, after] = [midFile("mid-fail"), midFile("mid-ok")]
    const text = await kintsugi(["report", before, after])
    expect(text).toMatchObject({ code: 0, err: "" })
    expect(text.out).toContain("First difference: turn 3, lookupOrder")
    expect(text.out).toMatch(/^ +mid-fail\.jsonl +mid-ok\.jsonl +difference$/m)
    const page = join(folder, "comparison.html")
    expect(await kintsugi(["report", before, after, "-o", page])).toEqual({ code: 0, out: "", err: "" })
    expect(readFileSync(page, "utf8")).toMatch(/<title>mid-fail\.jsonl and mid-ok\.jsonl<\/title>/)
    expect((await kintsugi(["report", before, after, "--format", "html"])).out).toBe(readFileSync(page, "utf8"))
    expect(await kintsugi(["report", before, join(folder, "missing.jsonl")])).toMatchObject({ code: 1, out: "" })
  })

  it("ends with 1 where nothing can be drawn or written [P1237 P1240]", async () => {
    const { file, folder } = newFolder()
    const target = join(folder, "never.html")
    const empty = file("empty.jsonl", "")
    for (const [input, says] of [
      [join(folder, "missing.jsonl"), "there is no such file"],
      [folder, "is a folder: kintsugi stats"],
      [empty, "has no event in it"]
    ] as const) {
      const { code, err, out } = await kintsugi(["report", input, "-o", target])
      expect([code, out]).toEqual([1, ""])
      expect(err).toContain(says)
      expect(existsSync(target)).toBe(false)
    }
    const nowhere = await kintsugi(["report", whole, "-o", join(folder, "no/such/report.html")])
    expect(nowhere).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: cannot write \S+no\/such\/report\.html: its folder does not exist\n$/)
    })
    mkdirSync(join(folder, "taken.html"))
    const taken = await kintsugi(["report", whole, "-o", join(folder, "taken.html")])
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining("it is a folder") })
  })

  it("ends with 2 for a command line that makes no sense [P1240]", async () => {
    const { folder } = newFolder()
    symlinkSync(whole, join(folder, "link.jsonl"))
    for (const [parameters, says] of [
      [["report", whole, "-o", "report.pdf"], "report.pdf: unknown file ending, use .html, .htm, .svg or --format\n"],
      [["report", whole, whole, "-o", "x.svg"], "x.svg: unknown file ending, use .html, .htm, .txt or --format\n"],
      [["report", "-", whole, "-o", whole, "--format", "html"], "would overwrite the input"],
      [["report", whole, "-o", whole, "--format", "html"], "would overwrite the input"],
      [["report", join(folder, "link.jsonl"), "-o", whole, "--format", "html"], "would overwrite the input"],
      [["report", whole, "--format", "pdf"], "Invalid value for flag --format"],
      [["report", whole, "--format", "text"], "a text is about two files"],
      [["report", whole, whole, "--format", "svg"], "a comparison is a text or a page"],
      [["report", whole, "--nope"], "Unrecognized flag"],
      [["report", whole, whole, whole], "Unexpected positional"],
      [["reprot", whole], "Did you mean this?\n    report"]
    ] as const) {
      const { code, err, out } = await kintsugi(parameters)
      expect([code, out], err).toEqual([2, ""])
      expect(err).toContain(says)
    }
    expect(readFileSync(whole, "utf8")).toBe(events)
  })

  it("sends a terminal no control codes of a file [P1237]", async () => {
    const evil = file("evil.jsonl", `${lines[0]}\n{"type":"\\u001b[31mevil","runId":"r","agent":"a","turn":0,"at":1}\n`)
    const { err } = await kintsugi(["report", evil, "-o", join(folder, "evil.html")])
    expect(err).toContain("evil")
    expect(err).not.toContain("\u001b")
  })
})
