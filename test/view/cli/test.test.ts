/** `kintsugi test`. */
import { existsSync, linkSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Page } from "@kintsugi/view"
import { root } from "../../../scripts/files.ts"
import { outcomeOf } from "../../../packages/view/src/recording/Outcome.ts"
import * as TestFile from "../../../packages/view/src/replay/TestFile.ts"
import { hostile, hostileRun } from "../_support/hostile.ts"
import { mid, midFile } from "../_support/recorded.ts"
import { folderOfTests, kintsugi } from "./_support/playing.ts"

const { file, folder, newFolder } = folderOfTests()
const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
const whole = file("events.jsonl", events)

describe("kintsugi test", () => {
  it("writes the test of a run, and never over another file [P1270]", async () => {
    const { folder } = newFolder()
    const target = join(folder, "run.test.ts")
    expect(await kintsugi(["test", whole, "-o", target])).toEqual({ code: 0, out: "", err: "" })
    const text = readFileSync(target, "utf8")
    expect(text).toContain('it("json-analyst answers as recorded"')
    expect((await kintsugi(["test"], { stdin: events })).out).toBe(text)
    const refused = await kintsugi(["test", whole, "-o", target])
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("run.test.ts exists: remove it") })
    expect(readFileSync(target, "utf8")).toBe(text)
    for (const over of [whole, join(folder, "link.ts")]) {
      if (over !== whole) linkSync(whole, over)
      const { code, err, out } = await kintsugi(["test", whole, "-o", over])
      expect([code, out]).toEqual([2, ""])
      expect(err).toMatch(/^error: the output would overwrite the input .*\n$/)
    }
    expect(readFileSync(whole, "utf8")).toBe(events)
  })

  it("takes the run with an id, and names one that is not there [P1270]", async () => {
    const [id] = /run-\w+/.exec(events) ?? [""]
    expect((await kintsugi(["test", "--run", id, whole])).out).toContain("json-analyst")
    const missing = await kintsugi(["test", "--run", "run-0", whole])
    expect(missing).toMatchObject({ code: 1, out: "" })
    expect(missing.err).toContain("the events have no beginning of the run 'run-0'")
  })

  it("is what a report of the run copies; a report of a run that cannot be played again has no test [P1708]", async () => {
    const testIn = async (...args: ReadonlyArray<string>) => {
      const page = (await kintsugi(["report", ...args, "--format", "html"])).out
      const [, data = "{}"] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page) ?? []
      return Object(JSON.parse(data))["test"]
    }
    expect(await testIn(whole)).toBe((await kintsugi(["test", whole])).out)
    const failed = midFile("mid-fail")
    const outcome = outcomeOf(mid("mid-fail")) ?? expect.fail()
    const written = await kintsugi(["test", failed, "--run", outcome.runId])
    expect(written).toMatchObject({
      code: 0,
      out: expect.stringContaining("refund-desk goes on after PaymentDeclined")
    })
    expect(await testIn(failed)).toBe(written.out)
    const lines = events.trimEnd().split("\n")
    expect(await testIn(file("half.jsonl", lines.slice(0, 4).join("\n")))).toBe(undefined)
  })

  it("of a run whose texts are hostile changes no page [P1708]", () => {
    for (const text of hostile) {
      const recording = hostileRun(text)
      const [bare, tested] = [Page.make(recording), Page.make(recording, TestFile.forPage(recording))]
      // the page has as many elements as without the test
      expect(tested.split("<").length).toBe(bare.split("<").length)
    }
  })

  it("says which event of a run cannot be played again [P1271]", async () => {
    const lines = events.trimEnd().split("\n")
    const cut = file("cut.jsonl", lines.slice(0, 4).join("\n"))
    const target = join(folder, "never.test.ts")
    const { code, err, out } = await kintsugi(["test", cut, "-o", target])
    expect([code, out]).toEqual([1, ""])
    expect(err).toContain("the run cannot be played again: event 4 (")
    expect(existsSync(target)).toBe(false)
  })
})
