/** What the scripts of this repository count and tell. */
import { describe, expect, it } from "vitest"
import { isCi, Report } from "../../scripts/report.ts"
import { provide } from "../../scripts/provide.ts"
import { formatSeconds, secondsOf } from "../../scripts/tally.ts"

const file = (relativeModuleId: string, duration: number) => ({
  relativeModuleId,
  diagnostic: () => ({
    duration,
    collectDuration: 100,
    environmentSetupDuration: 0,
    prepareDuration: 10,
    setupDuration: 0
  })
})

describe("the seconds of suites", () => {
  it("are those of the folders of test and of tools, the slowest first", () => {
    const seconds = secondsOf([
      file("test/loose.test.ts", 890),
      file("tools/soak/test/soak.test.ts", 1890),
      file("test/core/Agent.test.ts", 1000),
      file("test/core/testing/testDoubles.test.ts", 4000),
      file("test\\laws\\L1.test.ts", 9890)
    ])
    expect(formatSeconds(seconds)).toEqual([
      "   10.0 s  test/laws",
      "    5.2 s  test/core",
      "    2.0 s  tools/soak",
      "    1.0 s  test"
    ])
  })
})

describe("the report of system tests", () => {
  const report = () => {
    const lines: Array<string> = []
    return { lines, report: new Report((line) => lines.push(line)) }
  }

  it("counts what passed, failed and was skipped, and reports it last", () => {
    const { lines, report: one } = report()
    one.check("a", true, "unsaid")
    one.check("b", false, "why")
    one.skip("c", "it is missing")
    one.count("d", { passed: 3, failed: 1, skipped: 2 })
    expect(one.end(false)).toBe(false)
    expect(lines).toEqual([
      "ok      a",
      "FAILED  b: why",
      "skipped c: it is missing",
      "FAILED  d: 3 passed, 1 failed, 2 skipped",
      "4 passed, 2 failed, 3 skipped"
    ])
  })

  it("is well with a skip, but not in CI, and not without any check", () => {
    const { report: skipping } = report()
    skipping.check("a", true)
    skipping.skip("b", "it is missing")
    expect([skipping.end(false), skipping.end(true)]).toEqual([true, false])
    const { report: empty } = report()
    expect([empty.end(false), empty.end(true)]).toEqual([false, false])
  })

  it("knows CI by its variable", () => {
    expect([{}, { CI: "" }, { CI: "false" }, { CI: "0" }, { CI: "true" }, { CI: "1" }].map(isCi)).toEqual([
      false,
      false,
      false,
      false,
      true,
      true
    ])
  })
})

describe("a tool", () => {
  const tool = (works: boolean, fault?: string) => {
    let isThere = false
    return {
      name: "x",
      find: () => (isThere ? "/x" : undefined),
      install: () => {
        isThere = works
        return fault
      }
    }
  }

  it("is found, or installed, or missing with a reason", () => {
    const good = tool(true)
    expect(provide(good, false)).toEqual({ why: "it is not installed" })
    expect(provide(good, true)).toEqual({ path: "/x", isNew: true })
    expect(provide(good, true)).toEqual({ path: "/x", isNew: false })
    expect(provide(tool(false, "only root may run apt-get"), true)).toEqual({ why: "only root may run apt-get" })
    expect(provide(tool(false), true)).toEqual({ why: "it was installed, and is not found" })
  })
})
