/** What can be explained without being run, and what cannot. */
import { Recovery } from "@kintsugi/core"
import { describe, it } from "vitest"
import { bare, count, pay } from "./_support/subjects.ts"

declare const retry: ReturnType<typeof Recovery.retry>
declare const maybe: typeof retry | undefined

describe("explain", () => {
  it("takes a verdict, a table, rows that may be absent, and presets [P1102]", () => {
    Recovery.explain(retry)
    Recovery.explain(Recovery.raise)
    Recovery.explain({})
    Recovery.explain({ Busy: retry, orElse: Recovery.ladder(retry, Recovery.tell()) })
    Recovery.explain({ Busy: maybe })
    Recovery.explain(Recovery.presets.tellAll())
    Recovery.explain(Recovery.presets.tellThenToolsOff())
    Recovery.explain(Recovery.presets.tellWithTries(), { isUnsafe: true })
  })

  it("takes nothing that has no rows [P1102]", () => {
    // @ts-expect-error a number is no verdict
    Recovery.explain({ Buzy: 3 })
    // @ts-expect-error one row is, the other is not
    Recovery.explain({ Busy: retry, Buzy: "retry" })
    // @ts-expect-error a tool: explain the agent that has it
    Recovery.explain(count)
    // @ts-expect-error an unsafe one neither
    Recovery.explain(pay)
    // @ts-expect-error an agent is explained by `Agent.explain`
    Recovery.explain(bare)
    // @ts-expect-error a map is no table
    Recovery.explain(new Map())
    // @ts-expect-error nor is one of verdicts
    Recovery.explain(new Map([["Busy", retry]]))
    // @ts-expect-error nor a list
    Recovery.explain([retry])
    // @ts-expect-error nor nothing
    Recovery.explain(undefined)
  })
})
