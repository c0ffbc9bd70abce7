/** `kintsugi test`. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { folderOfTests, kintsugi } from "./_support/playing.ts"

const { file, folder } = folderOfTests()
const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")
const whole = file("events.jsonl", events)

describe("kintsugi test", () => {
  it("writes the test of a run, and never over another file [P1270]", async () => {
    const target = join(folder, "run.test.ts")
    expect(await kintsugi(["test", whole, "-o", target])).toEqual({ code: 0, out: "", err: "" })
    const text = readFileSync(target, "utf8")
    expect(text).toContain('it("json-analyst answers as recorded"')
    expect((await kintsugi(["test"], { stdin: events })).out).toBe(text)
    const refused = await kintsugi(["test", whole, "-o", target])
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("run.test.ts exists: remove it") })
    expect(readFileSync(target, "utf8")).toBe(text)
  })

  it("takes the run with an id, and names one that is not there [P1270]", async () => {
    const [id] = /run-\w+/.exec(events) ?? [""]
    expect((await kintsugi(["test", "--run", id, whole])).out).toContain("json-analyst")
    const missing = await kintsugi(["test", "--run", "run-0", whole])
    expect(missing).toMatchObject({ code: 1, out: "" })
    expect(missing.err).toContain("the events have no beginning of the run 'run-0'")
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
