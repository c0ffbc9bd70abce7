/** `kintsugi stats`. */
import { Recording, Stats } from "@kintsugi/view"
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { midFile } from "../_support/recorded.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"

const { file, folder, newFolder } = folderOfTests()

const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
const whole = file("whole.log", events)
const one = Stats.of(Recording.parse(events))
const half = events.slice(0, 5000)

const runs = join(folder, "runs")
mkdirSync(join(runs, "deep/deeper"), { recursive: true })
for (const [name, text] of [
  ["a.jsonl", events],
  ["deep/b.ndjson", half],
  ["deep/deeper/c.JSONL", events],
  ["deep/notes.txt", "no events"],
  ["empty.jsonl", ""],
  ["prose.jsonl", "hello\nworld\n"]
] as const)
  writeFileSync(join(runs, name), text)
mkdirSync(join(runs, "folder.jsonl"))

describe("kintsugi stats", () => {
  it("counts all runs below a folder, and names what it cannot count [P1239]", async () => {
    const { code, err, out } = await kintsugi(["stats", runs, "--json"])
    expect(code).toBe(0)
    const { unread, ...stats } = JSON.parse(out)
    // the examples of failed runs name their files
    expect(stats).toEqual(Stats.sum([one, Stats.of(Recording.parse(half)), one]))
    expect(
      unread.map(({ file, reason }: { file: string; reason: string }) => [file.split("/").at(-1), reason])
    ).toEqual([
      ["empty.jsonl", "there is no event in it"],
      ["folder.jsonl", expect.stringContaining("folder")],
      ["prose.jsonl", "there is no event in it"]
    ])
    expect(err).toContain("empty.jsonl: there is no event in it")
    expect(err).toContain("3 of 6 files were not counted")
  })

  it("takes several paths, with any endings, and standard input [P1239]", async () => {
    const odd = file("events.log", events)
    const missing = join(folder, "missing")
    const { code, err, out } = await kintsugi(["stats", odd, missing, "-", "--format", "json"], { stdin: events })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      ...Stats.add(one, one),
      unread: [{ file: expect.stringContaining("missing"), reason: "there is no such file" }]
    })
    expect(err).toContain("1 of 3 files were not counted")
  })

  it("writes a table, a page, a drawing or JSON [P1239]", async () => {
    const odd = file("table.log", events)
    const table = await kintsugi(["stats", odd])
    expect(table).toMatchObject({ code: 0, err: "" })
    expect(table.out).toMatch(/^layer +error +failures +incidents +healed +healed by +lost after$/m)
    expect(table.out).toMatch(/^tool +NoKeys +1 +1 +1 \(100 %\) +fix 1$/m)
    for (const [name, begins] of [
      ["stats.html", "<!doctype html>"],
      ["stats.svg", "<svg "],
      ["stats.json", "{"],
      ["stats.txt", "0 of 1 run failed"]
    ] as const) {
      const target = join(folder, name)
      expect(await kintsugi(["stats", odd, "-o", target])).toEqual({ code: 0, out: "", err: "" })
      expect(readFileSync(target, "utf8").startsWith(begins)).toBe(true)
    }
  })

  it("writes a report of each kind of failure, and links it [P1705]", async () => {
    const [target, reports] = [join(folder, "lost.html"), join(folder, "reports")]
    const said = await kintsugi(["stats", midFile("mid-fail"), runs, "-o", target, "--reports", reports])
    expect(said.code).toBe(0)
    expect(readFileSync(target, "utf8")).toContain('<a href="reports/1-PaymentDeclined.html">')
    expect(readFileSync(join(reports, "1-PaymentDeclined.html"), "utf8")).toContain(
      "<title>✕ PaymentDeclined · refund-desk</title>"
    )
  })

  it("shows two sets of runs side by side [P1705]", async () => {
    const given = ["stats", midFile("mid-ok"), "--before", midFile("mid-fail")]
    const { code, out } = await kintsugi(given)
    expect(code).toBe(0)
    expect(out).toMatch(/^failed +1 \(100 %\) +0 \(0 %\)$/m)
    expect(out).toMatch(/^ended by PaymentDeclined at refund-desk › refund +1 \(100 %\) +0 \(0 %\)$/m)
    const json = JSON.parse((await kintsugi([...given, "--json"])).out)
    expect([json.runs.failed, json.before.runs.failed]).toEqual([0, 1])
  })

  it("ends with 1 if nothing could be counted, with 2 for a wrong command line [P1239 P1240]", async () => {
    const { folder } = newFolder()
    mkdirSync(join(folder, "bare"))
    for (const [parameters, code, says] of [
      [["stats", join(folder, "missing")], 1, "none of the files could be counted"],
      [["stats", runs, "--before", join(folder, "bare")], 1, "no .jsonl or .ndjson file"],
      [["stats", runs, "--before", whole, "-o", whole, "--format", "json"], 2, "would overwrite the input"],
      [["stats", join(folder, "bare")], 1, "no .jsonl or .ndjson file"],
      [["stats"], 2, "Missing required argument"],
      [["stats", runs, "--json", "--format", "svg"], 2, "contradict"],
      [["stats", runs, "-o", "stats.pdf"], 2, ".json"]
    ] as const) {
      const said = await kintsugi(parameters)
      expect([said.code, said.out]).toEqual([code, ""])
      expect(said.err).toContain(says)
    }
  })

  it("writes over no file that it reads, however that is reached [P1250]", async () => {
    const { folder } = newFolder()
    const sources = join(folder, "kept")
    mkdirSync(sources)
    const source = join(sources, "a.jsonl")
    writeFileSync(source, events)
    linkSync(source, join(folder, "hard.json"))
    symlinkSync(source, join(folder, "soft.json"))
    for (const [given, target] of [
      [sources, source],
      [sources, join(folder, "hard.json")],
      [sources, join(folder, "soft.json")],
      [source, join(folder, "hard.json")],
      [join(folder, "soft.json"), source]
    ] as const) {
      const said = await kintsugi(["stats", given, "-o", target, "--format", "json"])
      expect([said.code, said.out]).toEqual([2, ""])
      expect(said.err).toContain("would overwrite the input")
      expect(readFileSync(source, "utf8")).toBe(events)
    }
    // beside them is a place like any other
    expect(await kintsugi(["stats", sources, "-o", join(sources, "stats.json")])).toMatchObject({ code: 0, err: "" })
  })

  it("counts each file once, also by several links and names [P1251]", async () => {
    const { folder } = newFolder()
    const looped = join(folder, "looped")
    mkdirSync(join(looped, "loop"), { recursive: true })
    writeFileSync(join(looped, "a.jsonl"), events)
    symlinkSync("../../looped", join(looped, "loop", "back"))
    symlinkSync("a.jsonl", join(looped, "b.jsonl"))
    const named = join(looped, "a.jsonl")
    const { code, err, out } = await kintsugi(["stats", looped, named, named, join(looped, "b.jsonl"), "--json"])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ recordings: 1, events: one.events })
    expect(err).toMatch(/^links to folders are not followed: .*loop\/back$/m)
    symlinkSync("..", join(looped, "up"))
    expect((await kintsugi(["stats", looped, "--json"])).err).toMatch(
      /^links to folders are not followed: .*loop\/back and 1 more\n$/
    )
    // a link that is named is followed
    symlinkSync("looped", join(folder, "linked"))
    expect(JSON.parse((await kintsugi(["stats", join(folder, "linked"), "--json"])).out)).toMatchObject({
      recordings: 1
    })
  })
})
